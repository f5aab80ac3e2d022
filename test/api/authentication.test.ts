import {
  Client,
  credentials,
  type handleBidiStreamingCall,
  type handleUnaryCall,
  Metadata,
  Server,
  status,
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

/** An executor's service of somebody who does not know its secret. */
async function serveWithoutProof(link: handleBidiStreamingCall<ExecutorMessage, MasterMessage>): Promise<string> {
  const server = new Server();
  server.addService(executorService, { link });
  const credentials = serverCredentials(makeServerKey("a.tony", Date.now()));
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  closings.push(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

describe("somebody between a caller and its server", () => {
  /** Takes streams without asking for a proof, and keeps what it is told. */
  async function impostor() {
    const heard: ExecutorMessage[] = [];
    const proofs: Metadata[] = [];
    const address = await serveWithoutProof((stream) => {
      proofs.push(stream.metadata);
      stream.on("data", (message: ExecutorMessage) => heard.push(message));
      stream.write({ attempt: 9, generation: 1, body: { type: "prepare", reason: "mine" } });
    });
    return { address, heard, proofs };
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

describe("a server that has not proved itself", () => {
  /** How a stream ends for its caller when such a server ends it with that status. */
  async function ending(code: status): Promise<string> {
    const address = await serveWithoutProof((stream) => {
      if (code === status.OK) stream.end();
      else stream.emit("error", { code, details: "use version 9" });
    });
    const identity = { applicationId: "a", caller: { name: "worker", secret } };
    const { stream, ends } = openStream({ identity, address });
    closings.push(() => stream.close());
    const error = await ends.next();
    expect(error?.message).not.toContain("use version 9");
    return `${error?.code}${error?.retryable ? ", retryable" : ""}`;
  }

  it.each([
    ["in order", status.OK, "API_UNAUTHENTICATED"],
    ["by a refusal of the caller's right", status.PERMISSION_DENIED, "API_UNAUTHENTICATED"],
    ["by a refusal of the caller's version", status.FAILED_PRECONDITION, "API_UNAUTHENTICATED"],
    ["as if there were nothing", status.NOT_FOUND, "API_UNAUTHENTICATED"],
    ["as if the caller had", status.CANCELLED, "API_UNREACHABLE, retryable"],
    ["by an error of its own", status.INTERNAL, "API_UNREACHABLE, retryable"],
  ])("is not believed when it ends a call %s", async (_how, code, seen) => {
    expect(await ending(code)).toBe(seen);
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
