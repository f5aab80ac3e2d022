import { afterEach, describe, expect, test } from "@jest/globals";
import { RpcConnection } from "../../../src/hadoop/rpc/connection.ts";
import { tokenDigest } from "../../../src/hadoop/security/sasl/digest-md5.ts";
import { common } from "../../../src/hadoop/wire/common.ts";
import { protectedEcho } from "../../support/digest-server.ts";
import {
  type Behaviour,
  delimited,
  failureFrame,
  RpcTestServer,
  replyFrame,
  saslReply,
} from "../../support/rpc-server.ts";

const { SaslState } = common.RpcSaslProto;
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

  const forgedReply = replyFrame(1, Buffer.from("forged"));
  const over = "org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException";
  const forged = [
    ["an answer", forgedReply],
    ["a call's failure", failureFrame(0, "ERROR", over, "gone")],
    ["a fatal failure", failureFrame(0, "FATAL", over, "gone")],
    ["a failure of the connection", failureFrame(-1, "FATAL", over, "gone")],
    ["a failure of the negotiation", failureFrame(-33, "FATAL", over, "gone")],
    ["another end of the negotiation", saslReply({ state: SaslState.SUCCESS })],
  ] as const;

  test.each(forged)("%s without the protection that was agreed is not believed", async (_what, frame) => {
    const guarded = protectedEcho({ token, qop: "auth-int", maxBytes: 65_536, cutAt: 65_536 });
    const connection = await connected({
      onFrame: (served, received) => {
        if (served.frames.length <= 2) guarded.onFrame?.(served, received);
        else served.socket.write(frame);
      },
    });
    await expect(echoed(connection, "hello")).rejects.toMatchObject({ code: "RPC_PROTOCOL" });
  });

  test.each(forged)(
    "%s right behind the negotiation's end, in one packet with it, is not believed",
    async (_what, frame) => {
      const guarded = protectedEcho({ token, qop: "auth-int", maxBytes: 65_536, cutAt: 65_536 });
      const connection = await connected({
        onFrame: (served, received) => {
          if (served.frames.length === 2) served.socket.cork();
          guarded.onFrame?.(served, received);
          if (served.frames.length !== 2) return;
          served.socket.write(frame);
          served.socket.uncork();
        },
      });
      await expect(echoed(connection, "hello")).rejects.toMatchObject({ code: "RPC_PROTOCOL" });
    },
  );

  test("nobody who has proved nothing yet sends more than a negotiation needs", async () => {
    const connection = await connected({
      onFrame: ({ socket }) => socket.write(Buffer.from(Uint32Array.of(65_537).buffer).swap32()),
    });
    await expect(echoed(connection, "hello")).rejects.toMatchObject({
      code: "RPC_PROTOCOL",
      message: expect.stringContaining("the limit is 65536"),
    });
  });

  test("a token whose password is wrong never gets to call", async () => {
    const other = { ...token, password: Buffer.from("other") };
    const connection = await connected(protectedEcho({ token: other, qop: "auth-conf", maxBytes: 65_536, cutAt: 100 }));
    await expect(echoed(connection, "hello")).rejects.toMatchObject({ code: "RPC_AUTHENTICATION" });
  });
});
