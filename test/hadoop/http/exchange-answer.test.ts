import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import {
  exchange,
  HttpError,
  keepAliveAgent,
  quoted,
  readBytes,
  readStart,
  readText,
  toHttpError,
} from "../../../src/hadoop/http/exchange.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

let server: Server;
afterEach(() => {
  server.close();
});

/** A server that answers the first chunk of each connection like this. @returns its address, and its connections */
async function serve(answer: (socket: Socket, connection: number) => void) {
  const connections: Socket[] = [];
  server = createServer((socket) => {
    connections.push(socket);
    socket.on("error", () => undefined).on("data", () => answer(socket, connections.length));
  });
  await listenLocally(server);
  return { url: new URL(`http://${localAddress(server)}/f`), connections };
}

const options = { method: "GET", connectTimeoutMs: 5_000, idleTimeoutMs: 5_000 };
const ok = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

describe("an answer", () => {
  const answered = async () => {
    const { url } = await serve((socket) => socket.write(ok("12345")));
    return await exchange(url, options);
  };

  test("is read up to the limit, and is refused beyond it", async () => {
    expect(await readText(await answered(), "nn:9870", 5)).toBe("12345");
    server.close();
    await expect(readBytes(await answered(), "nn:9870", 4)).rejects.toMatchObject({
      code: "HTTP_PROTOCOL",
      message: "nn:9870 answered with more than 4 bytes",
    });
  });

  test("of which only the start matters is read no further", async () => {
    const { url, connections } = await serve((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n12345");
    });
    const answer = await exchange(url, options);
    expect(String(await readStart(answer, "nn:9870", 5))).toBe("12345");
    const [connection] = connections;
    if (connection?.destroyed === false) await once(connection, "close");
    server.close();
    expect(String(await readStart(await answered(), "nn:9870", 3))).toBe("123");
    server.close();
    expect(String(await readStart(await answered(), "nn:9870", 99))).toBe("12345");
  });

  test("that breaks off names its server", async () => {
    const { url } = await serve((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12"));
    await expect(readText(await exchange(url, options), "nn:9870", 99)).rejects.toMatchObject({
      code: "HTTP_CONNECTION_LOST",
      message: expect.stringMatching(/^the connection to nn:9870 was lost: /),
      retryable: true,
    });
  });

  test("that breaks off before anybody reads it says so to its reader alone", async () => {
    const { url, connections } = await serve((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12"));
    const answer = await exchange(url, options);
    if (connections[0]?.destroyed === false) await once(connections[0], "close");
    await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(readText(answer, "nn:9870", 99)).rejects.toMatchObject({ code: "HTTP_CONNECTION_LOST" });
  });

  test("that waits for our own reader is not taken for a silent one", async () => {
    const { url, connections } = await serve((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n12");
    });
    const answer = await exchange(url, { ...options, idleTimeoutMs: 50 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    connections[0]?.write("34");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await readText(answer, "nn", 9)).toBe("1234");
  });
});

describe("a server", () => {
  test("that takes a connection, but does not agree on its encryption, is not waited for", async () => {
    const { url } = await serve(() => undefined);
    const secure = new URL(url.href.replace("http:", "https:"));
    await expect(exchange(secure, { ...options, connectTimeoutMs: 50 })).rejects.toMatchObject({
      code: "HTTP_UNREACHABLE",
      retryable: true,
      message: `${url.host} cannot be reached: no connection within 0.05 s`,
    });
  });

  test("whose connection was made is waited for longer than that took", async () => {
    const { url } = await serve((socket) => void setTimeout(() => socket.write(ok("late")), 150));
    expect(await readText(await exchange(url, { ...options, connectTimeoutMs: 100 }), "nn", 9)).toBe("late");
  });
});

describe("a kept connection", () => {
  test("serves one request after the other", async () => {
    const { url, connections } = await serve((socket) => socket.write(ok("x")));
    const agent = keepAliveAgent("http:");
    for (let request = 0; request < 3; request += 1)
      expect(await readText(await exchange(url, { ...options, agent }), "nn", 9)).toBe("x");
    expect(connections).toHaveLength(1);
    agent.destroy();
  });

  test("on which something came unasked serves no other request", async () => {
    const { url, connections } = await serve((socket, connection) => socket.write(ok(`of ${connection}`)));
    const agent = keepAliveAgent("http:");
    expect(await readText(await exchange(url, { ...options, agent }), "nn", 9)).toBe("of 1");
    await new Promise((resolve) => setImmediate(resolve));
    connections[0]?.write(ok("forged"));
    // The pool itself closes an idle connection only after 4 s.
    await Promise.race([
      once(connections[0] ?? server, "close"),
      new Promise((resolve) => setTimeout(resolve, 2_000).unref()),
    ]);
    expect(await readText(await exchange(url, { ...options, agent }), "nn", 9)).toBe("of 2");
    agent.destroy();
  });

  test("is waited for as long as the request says", async () => {
    const { url } = await serve((socket) => {
      if (socket.bytesWritten === 0) socket.write(ok("x"));
    });
    const agent = keepAliveAgent("http:");
    await readText(await exchange(url, { ...options, agent }), "nn", 9);
    await expect(exchange(url, { ...options, agent, idleTimeoutMs: 50 })).rejects.toMatchObject({
      code: "HTTP_TIMEOUT",
      message: `${url.host} was silent for 0.05 s`,
    });
    agent.destroy();
  });

  test("is left before the usual server leaves it, the youngest first, and trusts whom it is told to", () => {
    const kept = { keepAlive: true, scheduling: "lifo" };
    expect(keepAliveAgent("http:")).toMatchObject({ ...kept, options: { timeout: 4000 } });
    expect(keepAliveAgent("https:", "PEM")).toMatchObject({ ...kept, options: { timeout: 4000, ca: "PEM" } });
    expect(keepAliveAgent("https:")).not.toHaveProperty("options.ca");
  });

  test("without a pool is used once", async () => {
    const { url, connections } = await serve((socket) => socket.write(ok("x")));
    for (let request = 0; request < 2; request += 1) await readText(await exchange(url, options), "nn", 9);
    expect(connections).toHaveLength(2);
  });
});

describe("a failure", () => {
  const failure = (code: string) => Object.assign(new Error("why"), { code });

  test.each([
    ["ECONNREFUSED", false, "HTTP_UNREACHABLE", true, "nn cannot be reached: why"],
    ["ECONNRESET", true, "HTTP_CONNECTION_LOST", true, "the connection to nn was lost: why"],
    ["HPE_INVALID_CONSTANT", true, "HTTP_PROTOCOL", false, "nn does not speak HTTP: why"],
    [
      "CERT_HAS_EXPIRED",
      false,
      "HTTP_UNTRUSTED",
      false,
      "nn shows a certificate that is not trusted: why (CERT_HAS_EXPIRED)",
    ],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", false, "HTTP_UNTRUSTED", false, expect.any(String)],
    ["UNABLE_TO_GET_ISSUER", true, "HTTP_UNTRUSTED", false, expect.any(String)],
  ])("%s, connected: %s, is %s; trying again helps: %s", (code, connected, expected, retryable, message) => {
    const cause = failure(code);
    expect(toHttpError(cause, "nn", connected)).toMatchObject({ code: expected, retryable, message, cause });
  });

  test("that is told already, and the caller's own end of it, stay as they are", () => {
    for (const told of [new HttpError("why", { code: "HTTP_TIMEOUT" }), failure("ABORT_ERR")])
      for (const connected of [true, false]) expect(toHttpError(told, "nn", connected)).toBe(told);
  });
});

test("what a server says is quoted in short, and without tokens", () => {
  expect(quoted('see http://dn/f?delegation=SECRET&x=1 and "urlString" : "SECRET", too')).toBe(
    'see http://dn/f?… and "urlString" : "…", too',
  );
  expect(quoted("x".repeat(300))).toBe("x".repeat(200));
});
