import { type ChildProcess, spawn } from "node:child_process";
import dns from "node:dns";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { exchange } from "../../src/hadoop/http/exchange.ts";
import { RpcTransport } from "../../src/hadoop/rpc/transport.ts";

/** Takes connections late: until then its system drops the first packet of each that does not fit the queue, which is sent again after 1 s. */
const slowServer = `
const server = require("node:net").createServer((socket) => {
  socket.on("error", () => undefined).once("data", () => socket.end("HTTP/1.1 204 No Content\\r\\n\\r\\n"));
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
  require("node:fs").writeSync(1, String(server.address().port));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900);
});`;

let server: ChildProcess;
let port: number;
let others: Socket[];

beforeEach(async () => {
  server = spawn(process.execPath, ["-e", slowServer], { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = await once(server.stdout ?? server, "data");
  port = Number(String(said));
  others = Array.from({ length: 4 }, () => connect({ port, host: "127.0.0.1" }).on("error", () => undefined));
  await Promise.all(others.slice(0, 2).map((socket) => once(socket, "connect")));
  // Nobody listens at the second address.
  const addresses = ["127.0.0.1", "127.0.0.9"].map((address) => ({ address, family: 4 }));
  jest
    .spyOn(dns, "lookup")
    .mockImplementation(((_host: string, _options: object, done: (...found: unknown[]) => void) =>
      done(null, addresses)) as typeof dns.lookup);
});

afterEach(() => {
  jest.restoreAllMocks();
  for (const socket of others) socket.destroy();
  server.kill();
});

test("a host of several addresses that answers after a second is reached by RPC", async () => {
  // A transport keeps no process, so something else has to.
  const waiting = setTimeout(() => undefined, 4_000);
  const end = await new Promise((resolve) => {
    const transport: RpcTransport = new RpcTransport({
      endpoint: { host: "far.example", port },
      maxFrameBytes: 1024,
      onConnect: () => transport.end("connected"),
      onFrame: () => undefined,
      onEnd: resolve,
    });
  });
  clearTimeout(waiting);
  expect(end).toBe("connected");
});

test("and by HTTP", async () => {
  const url = new URL(`http://far.example:${port}/`);
  const answer = await exchange(url, { method: "GET", connectTimeoutMs: 4_000, idleTimeoutMs: 4_000 });
  expect(answer.statusCode).toBe(204);
  answer.destroy();
});
