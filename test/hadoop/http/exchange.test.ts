import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { exchange, readText } from "../../../src/hadoop/http/exchange.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

let server: Server;
afterEach(() => {
  server.close();
});

/** Data without an end, as a file that is hashed while it is sent. */
async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) {
    await delay(1);
    yield new Uint8Array(64 * 1024);
  }
}

test("a refusal that comes before the body's end is read whole, and nothing more is sent", async () => {
  server = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .once("data", async () => {
        socket.write("HTTP/1.1 403 Forbidden\r\ncontent-length: 16\r\n\r\n");
        await delay(50);
        socket.write("over the ");
        await delay(50);
        socket.write("quota.\n");
      });
    socket.resume();
  });
  await listenLocally(server);
  const connection = once(server, "connection");
  const stream = Readable.from(endless(), { objectMode: false });
  const answer = await exchange(new URL(`http://${localAddress(server)}/f`), {
    ...{ method: "PUT", connectTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
    body: { stream },
  });
  expect(answer.statusCode).toBe(403);
  expect(await readText(answer, "the server", 1_000)).toBe("over the quota.\n");
  const [socket] = await connection;
  if (!socket.destroyed) await once(socket, "close");
  expect(stream.destroyed).toBe(true);
});

test("data that cannot be read fails the exchange with its own reason", async () => {
  server = createServer((socket) => socket.on("error", () => undefined).resume());
  await listenLocally(server);
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1024);
    await delay(10);
    throw new Error("disk gone");
  }
  const exchanged = exchange(new URL(`http://${localAddress(server)}/f`), {
    ...{ method: "PUT", connectTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
    body: { stream: Readable.from(failing(), { objectMode: false }) },
  });
  await expect(exchanged).rejects.toMatchObject({
    code: "HTTP_BODY_FAILED",
    message: "the data to send cannot be read: disk gone",
  });
});

/** A server that answers with these bytes, so many at a time, forty times a second. */
async function trickling(head: string, more: string, bytesAtOnce: number, idleTimeoutMs = 1_000) {
  server = createServer((socket) => {
    socket
      .on("error", () => undefined)
      .once("data", async () => {
        socket.write(head);
        for (let at = 0; at < more.length && !socket.destroyed; at += bytesAtOnce) {
          socket.write(more.slice(at, at + bytesAtOnce));
          await delay(25);
        }
      });
  });
  await listenLocally(server);
  return exchange(new URL(`http://${localAddress(server)}/f`), {
    ...{ method: "GET", connectTimeoutMs: 5_000, idleTimeoutMs },
  });
}

const headOf = (lengthBytes: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${lengthBytes}\r\n\r\n`;
const cut = { code: "HTTP_TIMEOUT", message: expect.stringMatching(/ sent \d+ bytes in 1 s$/) };

test("a server that says nothing is waited for as long as nothing may move, before its answer and in it", async () => {
  const silent = { code: "HTTP_TIMEOUT", retryable: true, message: expect.stringMatching(/ was silent for 0.1 s$/) };
  await expect(trickling("", "", 1, 100)).rejects.toMatchObject(silent);
  server.close();
  const answer = await trickling(headOf(4), "yy", 2, 100);
  await expect(readText(answer, "the server", 10)).rejects.toMatchObject(silent);
});

test("a server that sends a byte now and then is not waited for: in the head of its answer", async () => {
  await expect(trickling("HTTP/1.1 200 OK\r\n", `x: ${"y".repeat(4_000)}`, 1)).rejects.toMatchObject(cut);
});

test("a server that sends a byte now and then is not waited for: in its body", async () => {
  const answer = await trickling(headOf(4_000), "y".repeat(4_000), 1);
  await expect(readText(answer, "the server", 10_000)).rejects.toMatchObject(cut);
});

test("a server that is slow, and goes on, is waited for", async () => {
  const answer = await trickling(headOf(1_500), "y".repeat(1_500), 15);
  expect(await readText(answer, "the server", 10_000)).toHaveLength(1_500);
});
