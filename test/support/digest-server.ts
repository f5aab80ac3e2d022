import { createHash } from "node:crypto";
import { FrameReader } from "../../src/hadoop/rpc/frame.ts";
import { type Protection, parseDirectives } from "../../src/hadoop/security/sasl/digest-md5.ts";
import { type DigestCipher, digestLayer } from "../../src/hadoop/security/sasl/digest-md5-layer.ts";
import type { SecurityLayer } from "../../src/hadoop/security/sasl/mechanism.ts";
import type { Token } from "../../src/hadoop/security/token.ts";
import { common } from "../../src/hadoop/wire/common.ts";
import { type Behaviour, callOf, replyFrame, type ServedConnection, saslOf, saslReply } from "./rpc-server.ts";

const { SaslState } = common.RpcSaslProto;

/**
 * A server that knows one token, protects everything after the negotiation, and answers each call with the bytes of its
 * request. `cutAt`: protected answers are cut into pieces of that size and sent as several WRAP messages.
 */
export function protectedEcho(options: {
  readonly token: Token;
  readonly qop: Protection;
  readonly cipher?: DigestCipher;
  readonly maxBytes: number;
  readonly cutAt: number;
}): Behaviour {
  const challenge =
    `realm="default",nonce="server-nonce",qop="${options.qop}",charset=utf-8,maxbuf=${options.maxBytes},` +
    `cipher="${options.cipher ?? "rc4"}",algorithm=md5-sess`;
  const layers = new WeakMap<ServedConnection, { layer: SecurityLayer; reader: FrameReader }>();
  return {
    onFrame: (connection, frame) => {
      const message = saslOf(frame);
      if (message.state === SaslState.NEGOTIATE) {
        const auth = { method: "TOKEN", mechanism: "DIGEST-MD5", protocol: "", serverId: "default" };
        const auths = [{ ...auth, challenge: Buffer.from(challenge) }];
        connection.socket.write(saslReply({ state: SaslState.NEGOTIATE, auths }));
      } else if (message.state === SaslState.INITIATE) {
        const { hashA1, proof } = digestAccepted(options.token, options.qop, message.token);
        const { cipher, maxBytes: peerMaxBytes } = options;
        layers.set(connection, {
          layer: digestLayer({ hashA1, cipher, peerMaxBytes, side: "server" }),
          reader: new FrameReader(),
        });
        connection.socket.write(saslReply({ state: SaslState.SUCCESS, token: Buffer.from(`rspauth=${proof}`) }));
      } else {
        const { layer, reader } = layers.get(connection) ?? {};
        if (layer === undefined || reader === undefined || message.state !== SaslState.WRAP)
          throw new Error("out of turn");
        if (message.token.length > options.maxBytes) throw new Error("longer than maxbuf");
        for (const inner of reader.push(layer.unwrap(message.token))) {
          const call = callOf(inner);
          if (call !== undefined) answer(connection, layer, replyFrame(call.callId, call.request), options.cutAt);
        }
      }
    },
  };
}

function answer({ socket }: ServedConnection, layer: SecurityLayer, bytes: Buffer, cutAt: number): void {
  for (let offset = 0; offset < bytes.length; offset += cutAt) {
    socket.write(saslReply({ state: SaslState.WRAP, token: layer.wrap(bytes.subarray(offset, offset + cutAt)) }));
  }
}

/** What the server computes by RFC 2831. */
export function digestAccepted(
  token: Token,
  qop: Protection,
  response: Uint8Array,
): { readonly hashA1: Buffer; readonly proof: string } {
  const directives = parseDirectives(response);
  const [name, password] = [token.identifier, token.password].map((part) => Buffer.from(part).toString("base64"));
  const clientNonce = directives.get("cnonce") ?? "";
  const hashA1 = md5(md5(`${name}:default:${password}`), `:server-nonce:${clientNonce}`);
  const hashA2 = md5(`:/default${qop === "auth" ? "" : `:${"0".repeat(32)}`}`).toString("hex");
  const proof = md5(`${hashA1.toString("hex")}:server-nonce:00000001:${clientNonce}:${qop}:${hashA2}`).toString("hex");
  return { hashA1, proof };
}

function md5(...parts: readonly (string | Uint8Array)[]): Buffer {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
