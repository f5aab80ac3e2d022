import type { handleUnaryCall } from "@grpc/grpc-js";
import { expect, it } from "@jest/globals";
import { requireSecret } from "../../src/api/authentication.ts";
import { rejoinService } from "../../src/api/definition.ts";
import type { RejoinReply, RejoinRequest } from "../../src/api/messages.ts";
import { callRejoin } from "../../src/api/rejoin.ts";
import { bindServer, closeServer, makeServer } from "../../src/api/server.ts";
import { identity } from "../support/api.ts";

it.each([
  ["the service's own secret", { "tony.v1.RejoinService": identity.executorSecret }, "accepted"],
  ["another secret", { "tony.v1.RejoinService": identity.clientSecret }, "API_UNAUTHENTICATED"],
  ["any secret, where the service has none", { "tony.v1.ClientService": "s" }, "API_UNAUTHENTICATED"],
])("a call with %s", async (_what, secrets, answer) => {
  const server = makeServer([requireSecret(secrets)]);
  const accept: handleUnaryCall<RejoinRequest, RejoinReply> = (_call, reply) =>
    reply(null, { accepted: true, reason: "" });
  server.addService(rejoinService, { rejoin: accept });
  const port = await bindServer(server, identity.executor, { host: "127.0.0.1", portKey: "", random: Math.random });
  const rejoinAddress = `127.0.0.1:${port}`;
  const call = { identity, build: "test", rejoinAddress, attempt: 1, masterAddress: "", timeoutMs: 60_000 };
  const answered = await callRejoin(call).then(
    ({ accepted }) => (accepted ? "accepted" : "refused"),
    ({ code }) => code,
  );
  await closeServer(server, 0);
  expect(answered).toBe(answer);
});
