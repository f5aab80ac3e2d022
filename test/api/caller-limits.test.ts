import { createHmac } from "node:crypto";
import { once } from "node:events";
import { type ClientHttp2Stream, connect, constants } from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { status } from "@grpc/grpc-js";
import { afterEach, describe, expect, it } from "@jest/globals";
import { CALLS_OF_TASK, CallerCalls, callLimitsOf, usualCallLimits } from "../../src/api/caller-calls.ts";
import { FIRST_STREAMS, MOST_HEADERS_BYTES, usualGuardLimits } from "../../src/api/connection-guard.ts";
import { clientService, rightByPath } from "../../src/api/definition.ts";
import { clientAccess, OWNER } from "../../src/api/identity.ts";
import { MasterClient } from "../../src/api/master-client.ts";
import { MOST_REQUEST_BYTES } from "../../src/api/tls.ts";
import { identity, noClients, ownersDoor, startMaster } from "../support/api.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const paths = Object.values(clientService).map(({ path }) => path);

async function master(changes: Parameters<typeof startMaster>[0] = {}) {
  const started = await startMaster(changes);
  ends.push(() => started.server.close(0));
  return started;
}

/** Somebody who knows the owner's secret, and does not keep to what our own client does. */
async function attacker(port: number) {
  const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ALPNProtocols: ["h2"] });
  socket.on("error", () => undefined);
  await once(socket, "secureConnect");
  const session = connect("https://127.0.0.1", { createConnection: () => socket });
  session.on("error", () => undefined);
  ends.push(() => session.destroy());
  const proof = proofFor(socket);
  const call = (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const stream = session.request(
      {
        ...headers,
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Tony ${OWNER} ${proof}`,
      },
      { endStream: false },
    );
    stream.on("error", () => undefined);
    return { stream, ended: statusOf(stream) };
  };
  const closed = new Promise((resolve) => session.once("close", () => resolve(true)));
  return { call, closed };
}

function proofFor(socket: TLSSocket): string {
  const { secret } = clientAccess(identity).caller;
  const certificate = socket.getPeerX509Certificate()?.raw ?? Buffer.alloc(0);
  return createHmac("sha256", secret).update("caller ").update(certificate).digest("base64url");
}

/** gRPC's status; -1: the stream was cut off. */
function statusOf(stream: ClientHttp2Stream): Promise<number> {
  return new Promise((resolve) => {
    const told = (headers: Record<string, unknown>) => {
      if (headers["grpc-status"] !== undefined) resolve(Number(headers["grpc-status"]));
    };
    stream.on("response", told);
    stream.on("trailers", told);
    stream.on("close", () => resolve(-1));
    stream.resume();
  });
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** The beginning of a message of that length. */
function begun(bytes: number, sent: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(bytes, 1);
  return Buffer.concat([head, Buffer.alloc(sent)]);
}

/** A client that reads tasks' logs until it is told to stop, and how many it reads. */
async function reader(options: Omit<Parameters<typeof master>[0], "clients"> = {}) {
  let reading = 0;
  const clients = {
    ...noClients,
    readLog: () => {
      reading += 1;
      return () => {
        reading -= 1;
      };
    },
    stop: () => true,
  };
  const { address } = await master({ ...options, clients });
  const client = new MasterClient({ address, access: clientAccess(identity), build: "test" });
  ends.push(() => client.close());
  const read = (task: string, signal?: AbortSignal) =>
    client.readLog({ task, stream: "stdout", offset: 0, follow: true }, signal).next();
  return { client, read, reading: () => reading };
}

describe("a caller of the ApplicationMaster", () => {
  it.each(paths)(
    "that has no right to %s is refused before it has sent anything, and its connection goes",
    async (path) => {
      const asked: string[] = [];
      const refusal = async (_caller: string, right: string) => {
        asked.push(right);
        return `may not ${right}`;
      };
      const { server } = await master({ door: { ...ownersDoor, refusal } });
      const { call, closed } = await attacker(server.port);
      expect(await call(path).ended).toBe(status.PERMISSION_DENIED);
      expect(asked).toEqual([rightByPath.get(path)]);
      expect(await closed).toBe(true);
    },
  );

  it("cannot send a message larger than any of ours is", async () => {
    const { server } = await master();
    const { call } = await attacker(server.port);
    const { stream, ended } = call(clientService.stop.path);
    stream.write(begun(MOST_REQUEST_BYTES + 1, 0));
    expect(await ended).toBe(status.RESOURCE_EXHAUSTED);
  });

  it("cannot send headers that are longer than any of ours", async () => {
    const { server } = await master();
    const { call } = await attacker(server.port);
    const first = call(clientService.follow.path);
    first.stream.end();
    expect(await first.ended).toBe(status.UNIMPLEMENTED);
    expect(await call(clientService.follow.path, { "x-long": "x".repeat(MOST_HEADERS_BYTES) }).ended).toBe(-1);
  });

  it("cannot send such headers before it has acknowledged the bound either", async () => {
    const { server } = await master();
    const { call, closed } = await attacker(server.port);
    call(clientService.follow.path, { "x-long": "x".repeat(MOST_HEADERS_BYTES) });
    expect(await closed).toBe(true);
  });

  it("cannot keep a call that has been answered", async () => {
    const { server } = await master();
    const { call } = await attacker(server.port);
    const { stream, ended } = call("/tony.v1.ClientService/Nothing");
    expect(await ended).toBe(status.UNIMPLEMENTED);
    await until(() => stream.destroyed);
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  });

  it("is cut off when it calls what there is not, again and again", async () => {
    const { server } = await master();
    const { call, closed } = await attacker(server.port);
    for (let calls = 0; calls <= usualGuardLimits.mostRefusals; calls += 1) call("/no.Service/Nothing");
    expect(await closed).toBe(true);
  });

  it("has no more calls made of what it sends at once than a connection may have open", async () => {
    const { server } = await master();
    const { call } = await attacker(server.port);
    const calls = Array.from({ length: 60 }, () => call(clientService.readLog.path).stream);
    const refused = calls.slice(FIRST_STREAMS);
    await until(() => refused.every(({ destroyed }) => destroyed));
    expect(new Set(refused.map(({ rstCode }) => rstCode))).toEqual(new Set([constants.NGHTTP2_REFUSED_STREAM]));
    expect(calls.slice(0, FIRST_STREAMS).filter(({ destroyed }) => destroyed)).toEqual([]);
  });

  it("may have as many open as it has been let in with, however many those are", async () => {
    const { read, reading } = await reader({ callLimits: callLimitsOf(100) });
    for (let task = 0; task < 100; task += 1) void read(`worker:${task}`).catch(() => undefined);
    await until(() => reading() === 100);
    expect(reading()).toBeGreaterThan(FIRST_STREAMS);
  });

  it("cannot have many messages begun, and those end in time", async () => {
    const callLimits = { ...usualCallLimits, askingMs: 500 };
    const { server } = await master({ callLimits });
    const connections = await Promise.all(Array.from({ length: 3 }, () => attacker(server.port)));
    expect(usualCallLimits.mostAsking + usualCallLimits.mostWaiting + 8).toBe(3 * FIRST_STREAMS);
    const calls = Array.from({ length: 3 * FIRST_STREAMS }, (_, index) => {
      const made = connections[index % 3]?.call(clientService.readLog.path);
      if (made === undefined) throw new RangeError("there are three");
      made.stream.write(begun(MOST_REQUEST_BYTES, 1_000));
      return made.ended;
    });
    const statuses = await Promise.all(calls);
    const count = (code: number) => statuses.filter((ended) => ended === code).length;
    expect(count(status.UNAVAILABLE)).toBe(8);
    expect(count(status.DEADLINE_EXCEEDED)).toBeGreaterThanOrEqual(usualCallLimits.mostAsking);
    expect(count(status.UNAVAILABLE) + count(status.DEADLINE_EXCEEDED) + count(-1)).toBe(calls.length);
  });

  it("is cut off when many of its calls are refused", async () => {
    const { server } = await master({ callLimits: { ...usualCallLimits, mostCalls: 1 } });
    const { call, closed } = await attacker(server.port);
    call(clientService.readLog.path);
    const isOver = { closed: false };
    void closed.then(() => {
      isOver.closed = true;
    });
    while (!isOver.closed) await Promise.race([call(clientService.readLog.path).ended, closed]);
    expect(await closed).toBe(true);
  });

  it("reads the logs of one task no more often than its connection to its executor bears", async () => {
    const { read, reading } = await reader();
    const away = new AbortController();
    const once = new AbortController();
    void read("worker:0", once.signal).catch(() => undefined);
    await until(() => reading() === 1);
    once.abort();
    await until(() => reading() === 0);
    for (let count = 1; count < CALLS_OF_TASK; count += 1) void read("worker:0").catch(() => undefined);
    void read("worker:0", away.signal).catch(() => undefined);
    await until(() => reading() === CALLS_OF_TASK);
    await expect(read("worker:0")).rejects.toThrow("times already");
    void read("worker:1").catch(() => undefined);
    await until(() => reading() === CALLS_OF_TASK + 1);
    away.abort();
    await until(() => reading() === CALLS_OF_TASK);
    void read("worker:0").catch(() => undefined);
    await until(() => reading() === CALLS_OF_TASK + 1);
  });

  it("may read the output of all tasks at once, and end the job meanwhile", async () => {
    const { client, read, reading } = await reader();
    for (let task = 0; task < 200; task += 1) void read(`worker:${task}`).catch(() => undefined);
    expect(await client.stop("enough", 60_000)).toBe(true);
    await until(() => reading() === 200);
  });
});

it("every method of ClientService takes a right", () => {
  expect([...rightByPath.keys()].sort()).toEqual([...paths].sort());
});

describe("the calls of a caller", () => {
  const limits = { mostAsking: 1, mostWaiting: 1, mostCalls: 2, askingMs: 60_000 };

  function enter(calls: CallerCalls, caller = "carol") {
    const seen = { begun: 0 };
    const call = calls.enter(caller, { begin: () => (seen.begun += 1), late: () => undefined });
    return { ...call, seen };
  }

  it("begin in turn, each when the one before has said what it is for, or is over", () => {
    const calls = new CallerCalls({ ...limits, mostWaiting: 8, mostCalls: 8 });
    const [first, second, third] = [enter(calls), enter(calls), enter(calls)];
    expect([first.seen.begun, second.seen.begun]).toEqual([1, 0]);
    first.asked?.();
    expect([second.seen.begun, third.seen.begun]).toEqual([1, 0]);
    second.leave?.();
    expect(third.seen.begun).toBe(1);
  });

  it("are refused beyond what it may have, and let in again when others are over", () => {
    const calls = new CallerCalls(limits);
    const first = enter(calls);
    first.asked?.();
    enter(calls);
    expect(enter(calls).leave).toBeUndefined();
    expect(enter(calls, "dave").leave).toBeDefined();
    first.leave?.();
    first.leave?.();
    expect(enter(calls).leave).toBeDefined();
    expect(enter(calls).leave).toBeUndefined();
  });

  it("may be more in a job of many tasks", () => {
    expect(callLimitsOf(1_000).mostCalls).toBeGreaterThan(2 * 1_000);
  });
});
