import {
  Client,
  credentials,
  type handleBidiStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
} from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "@jest/globals";
import { callerName } from "../../src/api/authentication.ts";
import type { Callers, SecretOf } from "../../src/api/caller.ts";
import { Channel } from "../../src/api/channel.ts";
import { executorService, rejoinService } from "../../src/api/definition.ts";
import type { ExecutorMessage, MasterMessage, RejoinReply, RejoinRequest } from "../../src/api/messages.ts";
import { ApiServer } from "../../src/api/server.ts";
import { makeServerKey } from "../../src/api/server-key.ts";
import { serverCredentials } from "../../src/api/tls.ts";
import { openStream, register } from "../support/api.ts";

const secret = Buffer.from("of worker");
const other = Buffer.from("of somebody else");
const closings: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

/** A rejoin service behind that door, and whom it was called by. */
async function serve(callers: Callers) {
  const called: string[] = [];
  const rejoin: handleUnaryCall<RejoinRequest, RejoinReply> = ({ metadata }, reply) => {
    called.push(callerName(metadata));
    reply(null, { accepted: true, reason: "" });
  };
  const services = (grpc: Server) => grpc.addService(rejoinService, { rejoin });
  const server = new ApiServer({ name: "a.tony", callers, services });
  const port = await server.listen({ host: "127.0.0.1", portKey: "", random: Math.random });
  closings.push(() => server.close(0));
  return { address: `127.0.0.1:${port}`, called };
}

async function call(address: string, caller: { readonly name: string; readonly secret: Uint8Array }): Promise<string> {
  const channel = new Channel({ address, serverName: "a.tony", caller });
  const request = { hello: { protocol: 1, build: "test" }, attempt: 1, masterAddress: "" };
  try {
    const { accepted } = await channel.call(rejoinService.rejoin, request, 60_000);
    return accepted ? "accepted" : "refused";
  } catch (error) {
    return String(error instanceof Error && "code" in error ? error.code : error);
  } finally {
    channel.close();
  }
}

const workerAlone: SecretOf = (name) => (name === "worker" ? secret : undefined);

describe("a service", () => {
  it.each([
    ["its caller, by name", "worker", secret, "accepted"],
    ["nobody with another secret", "worker", other, "API_UNAUTHENTICATED"],
    ["nobody by another's name", "stranger", secret, "API_UNAUTHENTICATED"],
  ])("lets in %s", async (_who, name, given, answer) => {
    const { address, called } = await serve({ "tony.v1.RejoinService": workerAlone });
    expect(await call(address, { name, secret: given })).toBe(answer);
    expect(called).toEqual(answer === "accepted" ? ["worker"] : []);
  });

  it("is closed where nobody is named who may call it", async () => {
    const { address, called } = await serve({ "tony.v1.ClientService": workerAlone });
    expect(await call(address, { name: "worker", secret })).toBe("API_UNAUTHENTICATED");
    expect(called).toEqual([]);
  });
});

describe("somebody between a caller and its server", () => {
  /** Takes streams without asking for a proof, and keeps what it is told. */
  async function impostor() {
    const key = makeServerKey("a.tony", Date.now());
    const heard: ExecutorMessage[] = [];
    const proofs: Metadata[] = [];
    const server = new Server();
    const link: handleBidiStreamingCall<ExecutorMessage, MasterMessage> = (stream) => {
      proofs.push(stream.metadata);
      stream.on("data", (message: ExecutorMessage) => heard.push(message));
      stream.write({ attempt: 9, generation: 1, body: { type: "prepare", reason: "mine" } });
    };
    server.addService(executorService, { link });
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", serverCredentials(key), (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    closings.push(() => server.forceShutdown());
    return { address: `127.0.0.1:${port}`, heard, proofs };
  }

  it("hears no message, is not believed, and cannot use the proof that it was shown", async () => {
    const { address, heard, proofs } = await impostor();
    const identity = { applicationId: "a", caller: { name: "worker", secret } };
    const { stream, messages, ends } = openStream({ identity, address });
    closings.push(() => stream.close());
    stream.send(register());
    expect(await ends.next()).toMatchObject({ code: "API_UNAUTHENTICATED", retryable: false });
    expect(messages.rest).toEqual([]);
    expect(heard).toEqual([]);

    const [shown] = proofs;
    const real = await serve({ "tony.v1.RejoinService": workerAlone });
    const [scheme, name, proof] = String(shown?.get("authorization")[0]).split(" ");
    expect({ scheme, name }).toEqual({ scheme: "Tony", name: "worker" });
    expect(proof).not.toContain(secret.toString("base64url"));
    expect(await replay(real.address, String(shown?.get("authorization")[0]))).toBe(16);
    expect(real.called).toEqual([]);
  });
});

/** Calls with that header as it is. @returns gRPC's status */
async function replay(address: string, header: string): Promise<unknown> {
  const client = new Client(address, credentials.createSsl(null, null, null, { rejectUnauthorized: false }));
  closings.push(() => client.close());
  const metadata = new Metadata();
  metadata.set("authorization", header);
  const { path, requestSerialize, responseDeserialize } = rejoinService.rejoin;
  const request = { hello: { protocol: 1, build: "test" }, attempt: 1, masterAddress: "" };
  return await new Promise((resolve) => {
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, (error) =>
      resolve(error === null ? "accepted" : error.code),
    );
  });
}
