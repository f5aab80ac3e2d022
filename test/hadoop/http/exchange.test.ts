import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import { exchange, readText } from "../../../src/hadoop/http/exchange.ts";

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
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const connection = once(server, "connection");
  const { port } = server.address() as AddressInfo;
  const stream = Readable.from(endless(), { objectMode: false });
  const answer = await exchange(new URL(`http://127.0.0.1:${port}/f`), {
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
  server = createServer((socket) => socket.on("error", () => undefined).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array(1024);
    await delay(10);
    throw new Error("disk gone");
  }
  const exchanged = exchange(new URL(`http://127.0.0.1:${port}/f`), {
    ...{ method: "PUT", connectTimeoutMs: 5_000, idleTimeoutMs: 5_000 },
    body: { stream: Readable.from(failing(), { objectMode: false }) },
  });
  await expect(exchanged).rejects.toMatchObject({
    code: "HTTP_BODY_FAILED",
    message: "the data to send cannot be read: disk gone",
  });
});
