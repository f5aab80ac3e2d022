import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { CallIds, type ConnectionOptions, RpcConnection } from "../../../src/hadoop/rpc/connection.ts";
import { encodeFrame } from "../../../src/hadoop/rpc/frame.ts";
import { tokenDigest } from "../../../src/hadoop/security/sasl/digest-md5.ts";
import { simple } from "../../../src/hadoop/security/simple-credentials.ts";
import { common } from "../../../src/hadoop/wire/common.ts";
import { keptBy } from "../../support/resources.ts";
import {
  type Behaviour,
  delimited,
  echo,
  failureFrame,
  type RpcTestServer,
  replyFrame,
  type ServedConnection,
  saslOf,
  saslReply,
  stoppedAfterTest,
} from "../../support/rpc-server.ts";

const token = { identifier: Buffer.from("id"), password: Buffer.from("pw"), kind: "T", service: "" };
const alice = simple({ name: "alice" });
const tokenOnly = { strategies: async () => [tokenDigest(token)] };
const { SaslState } = common.RpcSaslProto;

const connections: RpcConnection[] = [];

afterEach(() => {
  for (const connection of connections.splice(0)) connection.close();
});

const served = stoppedAfterTest();

function connectTo(server: Pick<RpcTestServer, "endpoint">, changes: Partial<ConnectionOptions> = {}): RpcConnection {
  const connection = new RpcConnection({
    endpoint: server.endpoint,
    protocol: "org.example.Protocol",
    strategies: async () => [alice],
    clientId: Buffer.alloc(16, 1),
    connectTimeoutMs: 60_000,
    ...changes,
  });
  connections.push(connection);
  return connection;
}

const say = (text: string) => delimited(Buffer.from(text));
const call = (connection: RpcConnection, text: string, timeoutMs = 60_000) =>
  connection.call("echo", say(text), timeoutMs).then((bytes) => Buffer.from(bytes).toString());

describe("a connection without security", () => {
  test("keeps the process only while an answer is out", async () => {
    const server = await served({ ...echo, onConnection: ({ socket }) => socket.unref() });
    const oneCall = async () => expect(await call(connectTo(server), "first")).toBe("first");
    expect(await keptBy("TCPWRAP", oneCall)).toBe(0);
    expect(await keptBy("Timeout", oneCall)).toBe(0);
  });

  test("sends its header, its context and the first call in one write", async () => {
    const server = await served(echo);
    expect(await call(connectTo(server), "first")).toBe("first");
    const [connection] = server.connections;
    expect(connection?.hello).toEqual(Buffer.from([0x68, 0x72, 0x70, 0x63, 9, 0, 0]));
    expect(connection?.chunks).toBe(1);
    expect(connection?.frames).toHaveLength(2);
    expect(connection?.calls).toMatchObject([{ method: "echo", protocol: "org.example.Protocol" }]);
  });

  test("many calls are in flight at once, and answers in any order find theirs", async () => {
    const waiting: { connection: ServedConnection; callId: number; request: Uint8Array }[] = [];
    const server = await served({
      onCall: (connection, { callId, request }) => {
        waiting.push({ connection, callId, request });
        if (waiting.length === 50) for (const one of waiting.reverse()) one.connection.reply(one.callId, one.request);
      },
    });
    const connection = connectTo(server);
    const texts = Array.from({ length: 50 }, (_, index) => `call ${index}`);
    expect(await Promise.all(texts.map((text) => call(connection, text)))).toEqual(texts);
    expect(server.connections).toHaveLength(1);
    expect(connection.inFlight).toBe(0);
  });

  test("answers split at any byte are read", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        async (texts, cut) => {
          const server = await served({
            onCall: ({ socket, calls }) => {
              if (calls.length < texts.length) return;
              const stream = Buffer.concat(calls.map(({ callId, request }) => replyFrame(callId, request)));
              const at = cut % stream.length;
              socket.write(stream.subarray(0, at));
              setImmediate(() => socket.write(stream.subarray(at)));
            },
          });
          const connection = connectTo(server);
          expect(await Promise.all(texts.map((text) => call(connection, text)))).toEqual(texts);
          connection.close();
        },
      ),
      { numRuns: 40 },
    );
  });

  test("a late answer is dropped, and the connection lives on", async () => {
    const server = await served({
      onCall: (connection, { callId, request }) => {
        if (connection.calls.length === 1) return;
        const [late] = connection.calls;
        if (late !== undefined) connection.reply(late.callId, Buffer.from("too late"));
        connection.reply(callId, request);
      },
    });
    const connection = connectTo(server);
    await expect(call(connection, "slow", 50)).rejects.toMatchObject({ code: "RPC_TIMEOUT", retryable: true });
    expect(await call(connection, "next")).toBe("next");
  });

  test("an answer that comes twice counts once", async () => {
    const server = await served({
      onCall: (connection, { callId, request }) => {
        connection.reply(callId, request);
        connection.reply(callId, Buffer.from("again"));
      },
    });
    const connection = connectTo(server);
    expect(await call(connection, "one")).toBe("one");
    expect(await call(connection, "two")).toBe("two");
  });

  test("an exception fails its own call only, with Java's class and message", async () => {
    const server = await served({
      onCall: ({ socket, calls }, { callId, request }) => {
        const text = "no such thing\n\tat org.example.Server.find(Server.java:7)";
        const header = failureFrame(callId, "ERROR", "org.example.NotThereException", text).subarray(4);
        // What follows a failure is not looked at.
        if (calls.length === 1) socket.write(encodeFrame(header, Buffer.of(0xff)));
        else socket.write(replyFrame(callId, request));
      },
    });
    const connection = connectTo(server);
    await expect(call(connection, "lost")).rejects.toMatchObject({
      code: "REMOTE_EXCEPTION",
      javaClass: "org.example.NotThereException",
      javaMessage: "no such thing",
      javaStack: "at org.example.Server.find(Server.java:7)",
    });
    expect(await call(connection, "found")).toBe("found");
  });

  test("a fatal answer ends the connection with the server's reason", async () => {
    const server = await served({
      onCall: ({ socket }) =>
        socket.end(failureFrame(-1, "FATAL", "org.apache.hadoop.security.AccessControlException", "no")),
    });
    const connection = connectTo(server);
    await expect(Promise.all([call(connection, "one"), call(connection, "two")])).rejects.toMatchObject({
      code: "ACCESS_DENIED",
    });
    expect(connection.closed).toBe(true);
    await expect(call(connection, "three")).rejects.toMatchObject({ code: "ACCESS_DENIED" });
  });

  test("a secured cluster's refusal names Kerberos", async () => {
    const refusal = "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]";
    const server = await served({
      onCall: ({ socket }) =>
        socket.end(failureFrame(-1, "FATAL", "org.apache.hadoop.security.AccessControlException", refusal)),
    });
    await expect(call(connectTo(server), "hello")).rejects.toMatchObject({
      code: "KERBEROS_NEEDED",
      message: expect.stringContaining("asks for Kerberos"),
    });
  });

  test("a fatal answer to one call is the end of them all", async () => {
    const server = await served({
      onCall: ({ socket, calls }, { callId }) => {
        if (calls.length === 2) socket.write(failureFrame(callId, "FATAL", "org.example.BrokenException", "no more"));
      },
    });
    const connection = connectTo(server);
    const ends = await Promise.allSettled(["one", "two", "three"].map((text) => call(connection, text)));
    expect(ends).toEqual(
      Array(3).fill(expect.objectContaining({ reason: expect.objectContaining({ javaMessage: "no more" }) })),
    );
    expect(connection.closed).toBe(true);
  });

  test("one that is closed while it learns who we are stays closed", async () => {
    const connection = connectTo(await served(echo), {
      strategies: async () => {
        connection.close();
        return [alice];
      },
    });
    await expect(call(connection, "hello")).rejects.toMatchObject({ code: "RPC_CLOSED" });
    await new Promise(setImmediate);
    expect(connection.closed).toBe(true);
  });

  test("closing fails the calls in flight", async () => {
    const server = await served({});
    const connection = connectTo(server);
    const pending = call(connection, "never");
    connection.close();
    await expect(pending).rejects.toMatchObject({ code: "RPC_CLOSED", retryable: false });
  });
});

describe("a server that does not keep to the protocol never hangs a call", () => {
  const greeting = (bytes: Buffer | string): Behaviour => ({ onConnection: ({ socket }) => socket.write(bytes) });

  test.each<[string, Behaviour, string]>([
    ["closes at once", { onConnection: ({ socket }) => socket.end() }, "RPC_CONNECTION_LOST"],
    ["resets the connection", { onCall: ({ socket }) => socket.resetAndDestroy() }, "RPC_CONNECTION_LOST"],
    [
      "closes inside a frame",
      { onCall: ({ socket }) => socket.end(encodeFrame(Buffer.alloc(9)).subarray(0, 7)) },
      "RPC_CONNECTION_LOST",
    ],
    ["speaks HTTP", greeting("HTTP/1.1 404 Not Found\r\n\r\n"), "RPC_PROTOCOL"],
    ["announces two gigabytes", greeting(Buffer.from([0x7f, 0xff, 0xff, 0xff])), "RPC_PROTOCOL"],
    ["sends an empty frame", greeting(encodeFrame()), "RPC_PROTOCOL"],
    ["sends a header that is none", greeting(encodeFrame(delimited(Buffer.from("garbage")))), "RPC_PROTOCOL"],
    ["sends a part longer than its frame", greeting(encodeFrame(Buffer.from([0x7f, 1, 2]))), "RPC_PROTOCOL"],
    [
      "sends SASL nobody asked for, with garbage in it",
      greeting(replyFrame(-33, Buffer.from([0xff, 0xff]))),
      "RPC_PROTOCOL",
    ],
    [
      "sends a protected message without protection",
      greeting(saslReply({ state: SaslState.WRAP, token: Buffer.alloc(40) })),
      "RPC_PROTOCOL",
    ],
  ])("one that %s", async (_, behaviour, code) => {
    const server = await served(behaviour);
    await expect(call(connectTo(server), "hello")).rejects.toMatchObject({ code });
  });

  test("one whose answer is beyond the limit that we set", async () => {
    const server = await served({ onCall: (connection, { callId }) => connection.reply(callId, Buffer.alloc(2_000)) });
    await expect(call(connectTo(server, { maxFrameBytes: 1_000 }), "hello")).rejects.toMatchObject({
      code: "RPC_PROTOCOL",
      message: expect.stringContaining("the limit is 1000"),
    });
  });

  test("one that says nothing: the call times out", async () => {
    await expect(call(connectTo(await served({})), "hello", 50)).rejects.toMatchObject({ code: "RPC_TIMEOUT" });
  });

  test("one that sends random bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        const server = await served({ onCall: ({ socket }) => socket.end(bytes) });
        await expect(call(connectTo(server), "hello")).rejects.toMatchObject({
          code: expect.stringMatching(/^RPC_|REMOTE_EXCEPTION/),
        });
      }),
      { numRuns: 60 },
    );
  });

  test("nobody listens: the error names the address", async () => {
    const server = await served({});
    const { endpoint } = server;
    await server.stop();
    await expect(call(connectTo({ endpoint }), "hello")).rejects.toMatchObject({
      code: "RPC_CONNECT_FAILED",
      retryable: true,
      message: expect.stringMatching(new RegExp(`Cannot connect to 127.0.0.1:${endpoint.port}.*ECONNREFUSED`)),
    });
  });
});

describe("negotiation", () => {
  const offer = (method: string, mechanism: string, challenge = "") => ({
    method,
    mechanism,
    protocol: "",
    serverId: "default",
    challenge: Buffer.from(challenge),
  });
  const negotiating = (...answers: readonly Buffer[]): Behaviour => {
    const left = [...answers];
    return { onFrame: ({ socket }) => void socket.write(left.shift() ?? Buffer.alloc(0)) };
  };

  test("a server that takes anyone is taken as SIMPLE, if a user name will do", async () => {
    const success = saslReply({ state: SaslState.SUCCESS });
    const behaviour: Behaviour = {
      onFrame: ({ socket, frames }) => void (frames.length === 1 && socket.write(success)),
      ...echo,
    };
    const anyone = { strategies: async () => [tokenDigest(token), alice] };
    expect(await call(connectTo(await served(behaviour), anyone), "in")).toBe("in");
    await expect(call(connectTo(await served(behaviour), tokenOnly), "in")).rejects.toMatchObject({
      code: "RPC_AUTHENTICATION",
    });
  });

  test("SIMPLE among the offers is chosen by name and needs no answer", async () => {
    const behaviour: Behaviour = {
      onFrame: ({ socket, frames }) => {
        const auths = [offer("KERBEROS", "GSSAPI"), offer("SIMPLE", "")];
        if (frames.length === 1) socket.write(saslReply({ state: SaslState.NEGOTIATE, auths }));
      },
      ...echo,
    };
    const server = await served(behaviour);
    expect(await call(connectTo(server, { strategies: async () => [tokenDigest(token), alice] }), "in")).toBe("in");
    const initiate = server.connections[0]?.frames[1];
    expect(initiate && saslOf(initiate)).toMatchObject({ state: SaslState.INITIATE, auths: [{ method: "SIMPLE" }] });
  });

  test("a mechanism that we lack is passed over, whatever it is offered for", async () => {
    const auths = ["SCRAM", "DIGEST-MD5"].map((mechanism) => offer("TOKEN", mechanism, challenge));
    const server = await served(
      negotiating(saslReply({ state: SaslState.NEGOTIATE, auths }), saslReply({ state: SaslState.SUCCESS })),
    );
    await expect(call(connectTo(server, tokenOnly), "in")).rejects.toMatchObject({ code: "RPC_AUTHENTICATION" });
    const initiate = server.connections[0]?.frames[1];
    expect(initiate && saslOf(initiate)).toMatchObject({ auths: [{ method: "TOKEN", mechanism: "DIGEST-MD5" }] });
  });

  test("how long an answer may be is ours to say again when it is over", async () => {
    const success = saslReply({ state: SaslState.SUCCESS });
    const server = await served({
      onFrame: ({ socket, frames }) => void (frames.length === 1 && socket.write(success)),
      onCall: (connection, { callId }) => connection.reply(callId, Buffer.alloc(70_000)),
    });
    const anyone = { strategies: async () => [tokenDigest(token), alice] };
    expect(await call(connectTo(server, anyone), "in")).toHaveLength(70_000);
    await expect(call(connectTo(server, { ...anyone, maxFrameBytes: 1_000 }), "in")).rejects.toMatchObject({
      code: "RPC_PROTOCOL",
      message: expect.stringContaining("the limit is 1000"),
    });
  });

  test("Kerberos alone gives the error that says so", async () => {
    const server = await served(
      negotiating(
        saslReply({
          state: SaslState.NEGOTIATE,
          auths: [{ ...offer("KERBEROS", "GSSAPI"), protocol: "rm", serverId: "h" }],
        }),
      ),
    );
    await expect(call(connectTo(server, tokenOnly), "in")).rejects.toMatchObject({
      code: "KERBEROS_NEEDED",
      retryable: false,
      message: expect.stringMatching(/Kerberos.*rm\/h/),
    });
  });

  const negotiate = (challenge: string) =>
    saslReply({ state: SaslState.NEGOTIATE, auths: [offer("TOKEN", "DIGEST-MD5", challenge)] });
  const challenge = 'realm="default",nonce="abc",qop="auth",charset=utf-8,algorithm=md5-sess';

  test.each<[string, readonly Buffer[], string]>([
    ["no mechanism at all", [saslReply({ state: SaslState.NEGOTIATE, auths: [] })], "RPC_AUTHENTICATION"],
    [
      "a mechanism that we lack",
      [saslReply({ state: SaslState.NEGOTIATE, auths: [offer("TOKEN", "SCRAM")] })],
      "RPC_AUTHENTICATION",
    ],
    ["garbage for a challenge", [negotiate('nonce="unclosed')], "RPC_AUTHENTICATION"],
    ["a challenge without nonce", [negotiate('realm="default",qop="auth"')], "RPC_AUTHENTICATION"],
    ["a protection that nobody knows", [negotiate('nonce="a",qop="auth-quantum"')], "RPC_AUTHENTICATION"],
    ["an absurd maxbuf", [negotiate('nonce="a",qop="auth",maxbuf=-5')], "RPC_AUTHENTICATION"],
    [
      "a wrong proof",
      [negotiate(challenge), saslReply({ state: SaslState.SUCCESS, token: Buffer.from("rspauth=00") })],
      "RPC_AUTHENTICATION",
    ],
    [
      "success without any proof",
      [negotiate(challenge), saslReply({ state: SaslState.SUCCESS })],
      "RPC_AUTHENTICATION",
    ],
    [
      "a second challenge",
      [negotiate(challenge), saslReply({ state: SaslState.CHALLENGE, token: Buffer.from(challenge) })],
      "RPC_AUTHENTICATION",
    ],
    ["a message out of turn", [saslReply({ state: SaslState.RESPONSE })], "RPC_PROTOCOL"],
    [
      "refuses the token",
      [
        negotiate(challenge),
        failureFrame(-33, "FATAL", "org.apache.hadoop.security.token.SecretManager$InvalidToken", "gone"),
      ],
      "INVALID_TOKEN",
    ],
  ])("a server that sends %s", async (_, answers, code) => {
    const server = await served(negotiating(...answers));
    await expect(call(connectTo(server, tokenOnly), "in")).rejects.toMatchObject({
      code,
      retryable: false,
    });
  });

  test("a server that falls silent: the connection is given up in time", async () => {
    const server = await served({});
    const connection = connectTo(server, { ...tokenOnly, connectTimeoutMs: 60 });
    await expect(call(connection, "in")).rejects.toMatchObject({
      code: "RPC_CONNECT_FAILED",
      message: expect.stringContaining("no connection within 60 ms"),
    });
  });

  test("a server that closes while negotiating: nothing was called", async () => {
    const server = await served({ onFrame: ({ socket }) => socket.end() });
    await expect(call(connectTo(server, tokenOnly), "in")).rejects.toMatchObject({
      code: "RPC_CONNECT_FAILED",
      retryable: true,
    });
  });
});

const largest = 2 ** 31 - 1;

describe("the numbers of calls", () => {
  test("count up, and begin again after the largest that 32 bits can say", () => {
    const callIds = new CallIds(largest - 2);
    const given = Array.from({ length: 4 }, () => callIds.next(() => false));
    expect(given).toEqual([largest - 1, largest, 0, 1]);
  });

  test("pass over those whose answers are still out", () => {
    const out = new Set([largest, 0, 1]);
    expect(new CallIds(largest - 1).next((callId) => out.has(callId))).toBe(2);
  });
});
