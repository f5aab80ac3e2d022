import { createCipheriv, createDecipheriv } from "node:crypto";

/** The RC4 stream cipher. OpenSSL 3, with which Node is built, excludes it from its default provider. */
export class Rc4 {
  readonly #state = Uint8Array.from({ length: 256 }, (_, index) => index);
  #i = 0;
  #j = 0;

  constructor(key: Uint8Array) {
    const state = this.#state;
    let j = 0;
    for (let i = 0; i < 256; i += 1) {
      const own = state[i] ?? 0;
      j = (j + own + (key[i % key.length] ?? 0)) & 0xff;
      state[i] = state[j] ?? 0;
      state[j] = own;
    }
  }

  /** Encrypts or decrypts the next bytes of the stream. */
  update(input: Uint8Array): Buffer {
    const state = this.#state;
    const output = Buffer.allocUnsafe(input.length);
    let i = this.#i;
    let j = this.#j;
    for (let index = 0; index < input.length; index += 1) {
      i = (i + 1) & 0xff;
      const own = state[i] ?? 0;
      j = (j + own) & 0xff;
      const other = state[j] ?? 0;
      state[i] = other;
      state[j] = own;
      output[index] = (input[index] ?? 0) ^ (state[(own + other) & 0xff] ?? 0);
    }
    this.#i = i;
    this.#j = j;
    return output;
  }
}

/** A cipher in one direction, whose state carries over from message to message. */
export interface StreamCipher {
  update(input: Uint8Array): Buffer;
}

export type CipherDirection = "encrypt" | "decrypt";

/**
 * Triple DES with two keys, encrypt-decrypt-encrypt, in CBC mode without padding: what DIGEST-MD5 calls `3des` (RFC 2831 §2.4;
 * DESede/CBC/NoPadding in the JDK's com.sun.security.sasl.digest.DigestMD5Base#makeDesKeys). `key` is the 16-byte sealing key: 7 bytes for
 * each DES key; its last 8 bytes are also the initialization vector.
 */
export function tripleDes(key: Uint8Array, direction: CipherDirection): StreamCipher {
  const outer = desKey(key.subarray(0, 7));
  return desCipher(Buffer.concat([outer, desKey(key.subarray(7, 14)), outer]), key, direction);
}

/** Single DES (`des`), as triple DES with the same key three times, because OpenSSL 3 no longer offers it by itself. */
export function singleDes(key: Uint8Array, direction: CipherDirection): StreamCipher {
  const only = desKey(key.subarray(0, 7));
  return desCipher(Buffer.concat([only, only, only]), key, direction);
}

/** Spreads 56 bits over 8 bytes, 7 to a byte, highest first; the lowest bit of each makes its parity odd (RFC 2831 §2.4). */
export function desKey(bits: Uint8Array): Buffer {
  let rest = BigInt(`0x${Buffer.from(bits).toString("hex")}`);
  const key = Buffer.alloc(8);
  for (let index = 7; index >= 0; index -= 1) {
    key[index] = withOddParity(Number(rest & 0x7fn) << 1);
    rest >>= 7n;
  }
  return key;
}

function withOddParity(byte: number): number {
  let ones = 0;
  for (let rest = byte; rest > 0; rest >>= 1) ones += rest & 1;
  return byte | (ones % 2 === 0 ? 1 : 0);
}

function desCipher(desKeys: Buffer, key: Uint8Array, direction: CipherDirection): StreamCipher {
  const create = direction === "encrypt" ? createCipheriv : createDecipheriv;
  const cipher = create("des-ede3-cbc", desKeys, key.subarray(8, 16));
  cipher.setAutoPadding(false);
  return cipher;
}
