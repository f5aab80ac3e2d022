import { connect } from "node:net";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { Channel } from "../../src/api/channel.ts";
import { rejoinService } from "../../src/api/definition.ts";
import { executorIdentity, executorServerName, makeIdentity } from "../../src/api/identity.ts";
import { PROTOCOL_VERSION, type RejoinRequest } from "../../src/api/messages.ts";
import { callRejoin, startRejoinServer } from "../../src/api/rejoin.ts";

describe("an executor's rejoin port", () => {
  const application = makeIdentity("application_1_0001");
  const identity = executorIdentity(application, "c2");
  let port = 0;
  const requests: RejoinRequest[] = [];
  beforeEach(async () => {
    requests.length = 0;
    port = await startRejoinServer({
      host: "127.0.0.1",
      identity,
      build: "test",
      portKey: "tony.task.port-range",
      random: () => 0,
      rejoin: (request) => {
        requests.push(request);
        return { accepted: true, reason: "" };
      },
    });
  });
  const call = (changes: { readonly identity?: typeof identity } = {}) =>
    callRejoin({
      identity,
      build: "test",
      rejoinAddress: `127.0.0.1:${port}`,
      attempt: 2,
      masterAddress: "127.0.0.1:1",
      timeoutMs: 10_000,
      ...changes,
    });

  test("takes each attempt's call", async () => {
    expect(await call()).toEqual({ accepted: true, reason: "" });
    expect(await call()).toEqual({ accepted: true, reason: "" });
    expect(requests).toHaveLength(2);
    expect(requests[0]).toMatchObject({
      hello: { protocol: PROTOCOL_VERSION },
      attempt: 2,
      masterAddress: "127.0.0.1:1",
    });
  });

  test("says why it refuses an attempt of another protocol", async () => {
    const serverName = executorServerName(identity.applicationId);
    const channel = new Channel({ address: `127.0.0.1:${port}`, serverName, caller: identity.caller });
    const hello = { protocol: PROTOCOL_VERSION + 1, build: "next" };
    const request = { hello, attempt: 2, masterAddress: "127.0.0.1:1" };
    const answer = await channel.call(rejoinService.rejoin, request, 10_000).finally(() => channel.close());
    expect(answer).toEqual({ accepted: false, reason: expect.stringContaining("use tony-ts of the same version") });
    expect(requests).toEqual([]);
  });

  test("goes on after a connection that says nothing, and after one that is no TLS", async () => {
    const silent = connect(port, "127.0.0.1");
    const other = connect(port, "127.0.0.1");
    other.on("error", () => {});
    other.write("GET / HTTP/1.1\r\n\r\n");
    expect(await call()).toMatchObject({ accepted: true });
    silent.destroy();
    other.destroy();
  });

  test("refuses who does not know the secret of its own container", async () => {
    const neighbour = executorIdentity(application, "c3");
    for (const caller of [neighbour.caller, { ...neighbour.caller, name: "c2" }]) {
      await expect(call({ identity: { ...identity, caller } })).rejects.toMatchObject({ code: "API_UNAUTHENTICATED" });
    }
    expect(requests).toEqual([]);
  });
});
