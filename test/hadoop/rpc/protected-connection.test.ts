import { afterEach, describe, expect, test } from "@jest/globals";
import { RpcConnection } from "../../../src/hadoop/rpc/connection.ts";
import { tokenDigest } from "../../../src/hadoop/security/sasl/digest-md5.ts";
import { protectedEcho } from "../../support/digest-server.ts";
import { type Behaviour, delimited, RpcTestServer, replyFrame } from "../../support/rpc-server.ts";

const token = { identifier: Buffer.from("id"), password: Buffer.from("pw"), kind: "T", service: "" };
const open: { server: RpcTestServer; connection: RpcConnection }[] = [];

afterEach(async () => {
  for (const { server, connection } of open.splice(0)) {
    connection.close();
    await server.stop();
  }
});

async function connected(behaviour: Behaviour): Promise<RpcConnection> {
  const server = await RpcTestServer.start(behaviour);
  const connection = new RpcConnection({
    endpoint: server.endpoint,
    protocol: "org.example.Protocol",
    strategies: async () => [tokenDigest(token)],
    clientId: Buffer.alloc(16, 1),
    connectTimeoutMs: 60_000,
  });
  open.push({ server, connection });
  return connection;
}

const echoed = async (connection: RpcConnection, text: string) =>
  Buffer.from(await connection.call("echo", delimited(Buffer.from(text)), 60_000)).toString();

describe("a protected connection", () => {
  test.each([
    ["auth-int", undefined],
    ["auth-conf", "rc4"],
    ["auth-conf", "3des"],
  ] as const)("%s %s: calls of any size pass, cut to what each side takes", async (qop, cipher) => {
    const behaviour = protectedEcho({ token, qop, ...(cipher ? { cipher } : {}), maxBytes: 300, cutAt: 41 });
    const connection = await connected(behaviour);
    const texts = ["", "short", "long ".repeat(400), "last"];
    expect(await Promise.all(texts.map((text) => echoed(connection, text)))).toEqual(texts);
  });

  test("an answer without the protection that was agreed ends the connection", async () => {
    const guarded = protectedEcho({ token, qop: "auth-int", maxBytes: 65_536, cutAt: 65_536 });
    const connection = await connected({
      onFrame: (served, frame) => {
        if (served.frames.length <= 2) guarded.onFrame?.(served, frame);
        else served.socket.write(replyFrame(1, Buffer.from("forged")));
      },
    });
    await expect(echoed(connection, "hello")).rejects.toMatchObject({
      code: "RPC_PROTOCOL",
      message: expect.stringContaining("without the protection"),
    });
  });

  test("a token whose password is wrong never gets to call", async () => {
    const other = { ...token, password: Buffer.from("other") };
    const connection = await connected(protectedEcho({ token: other, qop: "auth-conf", maxBytes: 65_536, cutAt: 100 }));
    await expect(echoed(connection, "hello")).rejects.toMatchObject({ code: "RPC_AUTHENTICATION" });
  });
});
