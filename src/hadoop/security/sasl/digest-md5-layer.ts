/**
 * DIGEST-MD5's security layers (RFC 2831 §2.3, §2.4):
 *
 *     auth-int:   message | MAC(10) | type(2) = 1 | sequence(4)
 *     auth-conf:  CIPHER(message | padding | MAC(10)) | type(2) = 1 | sequence(4)
 *
 * MAC = first 10 bytes of HMAC-MD5(Ki, sequence | message). The sequence starts at 0 in each direction. Padding fills the last block of
 * block ciphers; each byte of it is its length.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { AuthenticationError } from "../errors.ts";
import { type CipherDirection, Rc4, type StreamCipher, singleDes, tripleDes } from "./ciphers.ts";
import type { SecurityLayer } from "./mechanism.ts";

const macBytes = 10;
const trailerBytes = 6;
const desBlockBytes = 8;
const messageType = 1;

interface CipherKind {
  /** How many bytes of H(A1) the sealing keys are made from. */
  readonly hashBytes: number;
  readonly blockBytes: number;
  readonly create: (key: Uint8Array, direction: CipherDirection) => StreamCipher;
}

const rc4 = (key: Uint8Array) => new Rc4(key);

/** Keyed by their names in `cipher=` (RFC 2831 §2.1.1), in our order of preference. */
export const digestCiphers = {
  rc4: { hashBytes: 16, blockBytes: 1, create: rc4 },
  "3des": { hashBytes: 16, blockBytes: desBlockBytes, create: tripleDes },
  "rc4-56": { hashBytes: 7, blockBytes: 1, create: rc4 },
  des: { hashBytes: 16, blockBytes: desBlockBytes, create: singleDes },
  "rc4-40": { hashBytes: 5, blockBytes: 1, create: rc4 },
} as const satisfies Record<string, CipherKind>;

export type DigestCipher = keyof typeof digestCiphers;

export interface DigestLayerOptions {
  /** H(A1), 16 bytes. */
  readonly hashA1: Uint8Array;
  /** Absent: the layer signs only. */
  readonly cipher?: DigestCipher | undefined;
  /** The peer's `maxbuf`. */
  readonly peerMaxBytes: number;
  /** Our side; tests of the exchange use the server's. */
  readonly side?: "client" | "server";
}

/** The layer that the exchange has agreed on. */
export function digestLayer({ hashA1, cipher, peerMaxBytes, side = "client" }: DigestLayerOptions): SecurityLayer {
  const [ours, theirs] =
    side === "client" ? ["client-to-server", "server-to-client"] : ["server-to-client", "client-to-server"];
  const signingKey = (direction: string) =>
    md5(hashA1, `Digest session key to ${direction} signing key magic constant`);
  const keys = { own: signingKey(`${ours}`), peer: signingKey(`${theirs}`) };
  if (cipher === undefined) return new DigestLayer(keys, undefined, peerMaxBytes);
  const kind: CipherKind = digestCiphers[cipher];
  const sealingKey = (direction: string) =>
    md5(hashA1.subarray(0, kind.hashBytes), `Digest H(A1) to ${direction} sealing key magic constant`);
  const seal = {
    blockBytes: kind.blockBytes,
    encrypt: kind.create(sealingKey(`${ours}`), "encrypt"),
    decrypt: kind.create(sealingKey(`${theirs}`), "decrypt"),
  };
  return new DigestLayer(keys, seal, peerMaxBytes);
}

interface SigningKeys {
  readonly own: Buffer;
  readonly peer: Buffer;
}

interface Seal {
  readonly blockBytes: number;
  readonly encrypt: StreamCipher;
  readonly decrypt: StreamCipher;
}

class DigestLayer implements SecurityLayer {
  readonly maxMessageBytes: number;
  readonly #keys: SigningKeys;
  readonly #seal: Seal | undefined;
  #sent = 0;
  #received = 0;

  constructor(keys: SigningKeys, seal: Seal | undefined, peerMaxBytes: number) {
    this.#keys = keys;
    this.#seal = seal;
    this.maxMessageBytes = peerMaxBytes - macBytes - trailerBytes - (seal === undefined ? 0 : desBlockBytes);
  }

  wrap(message: Uint8Array): Buffer {
    const trailer = trailerOf(this.#sent);
    this.#sent = nextSequence(this.#sent);
    const mac = macOf(this.#keys.own, trailer, message);
    if (this.#seal === undefined) return Buffer.concat([message, mac, trailer]);
    const padding = paddingFor(message.length + macBytes, this.#seal.blockBytes);
    return Buffer.concat([this.#seal.encrypt.update(Buffer.concat([message, padding, mac])), trailer]);
  }

  unwrap(token: Uint8Array): Buffer {
    const bodyEnd = token.length - trailerBytes;
    const trailer = trailerOf(this.#received);
    if (bodyEnd < macBytes || !trailer.equals(token.subarray(bodyEnd))) throw damaged("is not the next in sequence");
    this.#received = nextSequence(this.#received);
    const body = token.subarray(0, bodyEnd);
    const clear = this.#seal === undefined ? Buffer.from(body) : decrypted(body, this.#seal);
    const mac = clear.subarray(clear.length - macBytes);
    const message = withoutPadding(clear.subarray(0, clear.length - macBytes), this.#seal?.blockBytes ?? 1);
    if (!timingSafeEqual(mac, macOf(this.#keys.peer, trailer, message))) throw damaged("was changed on the way");
    return message;
  }
}

function decrypted(body: Uint8Array, seal: Seal): Buffer {
  if (body.length % seal.blockBytes !== 0) throw damaged("is not whole cipher blocks");
  return seal.decrypt.update(body);
}

function trailerOf(sequence: number): Buffer {
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt16BE(messageType, 0);
  trailer.writeUInt32BE(sequence, 2);
  return trailer;
}

function nextSequence(sequence: number): number {
  return (sequence + 1) >>> 0;
}

function macOf(key: Buffer, trailer: Buffer, message: Uint8Array): Buffer {
  return createHmac("md5", key).update(trailer.subarray(2)).update(message).digest().subarray(0, macBytes);
}

function paddingFor(length: number, blockBytes: number): Buffer {
  const count = blockBytes === 1 ? 0 : blockBytes - (length % blockBytes);
  return Buffer.alloc(count, count);
}

function withoutPadding(padded: Buffer, blockBytes: number): Buffer {
  if (blockBytes === 1) return padded;
  const count = padded.at(-1) ?? 0;
  if (count < 1 || count > blockBytes || count > padded.length) throw damaged("was changed on the way");
  return padded.subarray(0, padded.length - count);
}

function md5(hash: Uint8Array, text: string): Buffer {
  return createHash("md5").update(hash).update(text, "utf8").digest();
}

function damaged(how: string): AuthenticationError {
  return new AuthenticationError(`A protected message from the server ${how}`);
}
