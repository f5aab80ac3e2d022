import { createServer, type Server, type Socket } from "node:net";
import { Readable } from "node:stream";
import { afterEach, expect, test } from "@jest/globals";
import { type ExchangeBody, exchange } from "../../../src/hadoop/http/exchange.ts";
import { deferred } from "../../support/deferred.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

let server: Server;
afterEach(() => {
  server.close();
});

/** Sends a body to a server that treats each chunk of what it has received so far like this. */
async function send(
  body: ExchangeBody,
  serve: (socket: Socket, received: string) => void,
  signal?: AbortSignal,
): Promise<number | undefined> {
  server = createServer((socket) => {
    let received = "";
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      serve(socket, received);
    });
  });
  await listenLocally(server);
  const answer = await exchange(new URL(`http://${localAddress(server)}/f`), {
    ...{ method: "PUT", connectTimeoutMs: 5_000, idleTimeoutMs: 5_000, headers: { "x-of": "caller" } },
    body,
    signal,
  });
  answer.destroy();
  return answer.statusCode;
}

const created = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
const nothing = () => undefined;
const bytes = (...chunks: readonly string[]) => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

test("a body of known length is announced, and counted while it is sent", async () => {
  let head = "";
  const progress: number[] = [];
  const sending: ExchangeBody = {
    stream: bytes("ab", "cde"),
    lengthBytes: 5,
    onProgress: (sentBytes) => progress.push(sentBytes),
  };
  const status = await send(sending, (socket, received) => {
    if (!received.endsWith("\r\n\r\nabcde")) return;
    head = received;
    socket.write(created);
  });
  expect(status).toBe(201);
  expect(progress).toEqual([2, 5]);
  expect(head).toMatch(/^PUT \/f HTTP\/1\.1\r\n/);
  expect(head).toMatch(/\r\ncontent-length: 5\r\n/i);
  expect(head).toMatch(/\r\nx-of: caller\r\n/);
  expect(head).not.toMatch(/expect:|transfer-encoding:/i);
});

test("a body of unknown length is sent in chunks", async () => {
  let head = "";
  await send({ stream: bytes("ab") }, (socket, received) => {
    if (!received.endsWith("0\r\n\r\n")) return;
    head = received;
    socket.write(created);
  });
  expect(head).toMatch(/\r\ntransfer-encoding: chunked\r\n/i);
  expect(head).not.toMatch(/content-length:/i);
});

test.each([
  ["longer", bytes("abc", "def"), 5, "has 6 bytes or more, but 5 were announced"],
  ["shorter", bytes("abc"), 5, "has 3 bytes or more, but 5 were announced"],
])("a body that is %s than announced fails the exchange", async (_what, stream, lengthBytes, said) => {
  await expect(send({ stream, lengthBytes }, nothing)).rejects.toMatchObject({
    code: "HTTP_BODY_CHANGED",
    retryable: false,
    message: `the data to send ${said}: it changed while it was read`,
  });
});

test("a body that is closed before its end fails the exchange", async () => {
  const stream = new Readable({ read: () => undefined });
  stream.push("half");
  const sent = send({ stream, onProgress: () => stream.destroy() }, nothing);
  await expect(sent).rejects.toMatchObject({
    code: "HTTP_BODY_FAILED",
    message: "the data to send was closed before its end",
  });
});

test("a body is read no further when the connection has ended, or the caller gives up", async () => {
  const begun = () => {
    const stream = new Readable({ read: () => undefined });
    stream.push("half");
    return stream;
  };
  const lost = begun();
  await expect(send({ stream: lost }, (socket) => socket.destroy())).rejects.toMatchObject({
    code: "HTTP_CONNECTION_LOST",
  });
  expect(lost.destroyed).toBe(true);
  server.close();
  const dropped = begun();
  const caller = new AbortController();
  const sent = send({ stream: dropped }, () => caller.abort(), caller.signal);
  await expect(sent).rejects.toMatchObject({ name: "AbortError" });
  expect(dropped.destroyed).toBe(true);
});

test("a body that waits to be asked for is sent when the server asks", async () => {
  const seen: string[] = [];
  let head = "";
  const stream = bytes("abc");
  const status = await send({ stream, lengthBytes: 3, waitForContinue: true }, (socket, received) => {
    const [before = "", after = ""] = received.split("\r\n\r\n");
    head = before;
    seen.push(after);
    socket.write(received.endsWith("abc") ? created : "HTTP/1.1 100 Continue\r\n\r\n");
  });
  expect(status).toBe(201);
  expect(seen).toEqual(["", "abc"]);
  expect(head).toMatch(/\r\nexpect: 100-continue/i);
});

test("a body that waits to be asked for is sent in the end to a server that knows nothing of asking", async () => {
  const status = await send({ stream: bytes("abc"), lengthBytes: 3, waitForContinue: true }, (socket, received) => {
    if (received.endsWith("abc")) socket.write(created);
  });
  expect(status).toBe(201);
});

test("a body that waits to be asked for is not read where the answer is a refusal", async () => {
  const stream = new Readable({ read: () => undefined });
  const closed = deferred();
  stream.once("close", closed.resolve);
  const status = await send({ stream, lengthBytes: 3, waitForContinue: true }, (socket) => {
    socket.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
  });
  expect(status).toBe(403);
  await closed.promise;
  expect(stream.readableDidRead).toBe(false);
});
