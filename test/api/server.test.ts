import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { handleUnaryCall } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "@jest/globals";
import { Channel } from "../../src/api/channel.ts";
import { type GuardLimits, usualGuardLimits } from "../../src/api/connection-guard.ts";
import { rejoinService } from "../../src/api/definition.ts";
import { PROTOCOL_VERSION, type RejoinReply, type RejoinRequest } from "../../src/api/messages.ts";
import { ApiServer } from "../../src/api/server.ts";
import { errorCode } from "../../src/hadoop/errors.ts";

const secret = Buffer.from("of worker");
const patient: GuardLimits = { ...usualGuardLimits, proofMs: 60_000, refusedMs: 60_000 };
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(limits: Partial<GuardLimits>) {
  const callers: string[] = [];
  const rejoin: handleUnaryCall<RejoinRequest, RejoinReply> = (call, reply) => {
    callers.push(call.getPeer());
    reply(null, { accepted: true, reason: "" });
  };
  const server = new ApiServer({
    name: "a.tony",
    callers: { "tony.v1.RejoinService": () => secret },
    services: (grpc) => grpc.addService(rejoinService, { rejoin }),
    limits: { ...patient, ...limits },
  });
  const port = await server.listen({ host: "127.0.0.1", portKey: "", random: Math.random });
  ends.push(() => server.close(0));

  const channel = (given: Uint8Array) => {
    const caller = { name: "worker", secret: given };
    const made = new Channel({ address: `127.0.0.1:${port}`, serverName: "a.tony", caller });
    ends.push(() => made.close());
    const request = { hello: { protocol: PROTOCOL_VERSION, build: "test" }, attempt: 1, masterAddress: "" };
    return { call: () => made.call(rejoinService.rejoin, request, 60_000) };
  };
  return { server, port, callers, channel };
}

function silent(port: number): { readonly socket: Socket; readonly ended: Promise<unknown> } {
  const socket = connect({ port, host: "127.0.0.1" });
  ends.push(() => socket.destroy());
  return { socket, ended: new Promise((resolve) => socket.once("error", (error) => resolve(errorCode(error)))) };
}

/** A caller that comes as far as TLS, and says nothing then. */
async function withTls(port: number) {
  const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["h2"] });
  socket.on("data", () => undefined).on("error", () => undefined);
  ends.push(() => socket.destroy());
  await once(socket, "secureConnect");
  return { ended: new Promise((resolve) => socket.once("close", resolve)) };
}

describe("a connection that has not shown a secret", () => {
  it("is reset when its time is over, whether it has said nothing or has come as far as TLS", async () => {
    const { port } = await start({ proofMs: 300 });
    const tls = await withTls(port);
    expect(await silent(port).ended).toBe("ECONNRESET");
    await tls.ended;
  });

  it("is reset in the middle of its handshake, too", async () => {
    const { port } = await start({ proofMs: 300 });
    const { socket, ended } = silent(port);
    socket.write(Buffer.from("16030102000100", "hex"));
    expect(await ended).toBe("ECONNRESET");
  });

  it("goes, the oldest first, when there are too many", async () => {
    const { port, channel } = await start({ mostUnproven: 2 });
    const first = silent(port);
    await once(first.socket, "connect");
    await withTls(port);
    await channel(secret).call();
    expect(await first.ended).toBe("ECONNRESET");
  });

  it("keeps nobody of its address waiting for longer than its turn", async () => {
    const { port, channel } = await start({ mostServedOfAddress: 1, turnMs: 200 });
    const first = silent(port);
    await once(first.socket, "connect");
    await channel(secret).call();
    expect(await first.ended).toBe("ECONNRESET");
  });

  it("goes with the server", async () => {
    const { server, port } = await start({});
    const caller = silent(port);
    await once(caller.socket, "connect");
    const tls = await withTls(port);
    await server.close(60_000);
    expect(await caller.ended).toBe("ECONNRESET");
    await tls.ended;
  });
});

it("a connection that has shown the secret outlasts the time for it, and those that come after it", async () => {
  const { port, callers, channel } = await start({ proofMs: 2_000, mostUnproven: 1 });
  const { call } = channel(secret);
  await call();
  expect(await silent(port).ended).toBe("ECONNRESET");
  await call();
  expect(callers).toEqual([expect.any(String), callers[0]]);
});

it("a caller with a wrong secret is told so, and its connection is reset", async () => {
  const { channel, callers } = await start({ refusedMs: 300, mostRefusals: 2 });
  const { call } = channel(Buffer.from("wrong"));
  await expect(call()).rejects.toMatchObject({ code: "API_UNAUTHENTICATED" });
  const more = await Promise.allSettled([call(), call(), call(), call()]);
  expect(more.map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
  expect(callers).toEqual([]);
});
