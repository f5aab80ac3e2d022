/** The RC4 stream cipher: OpenSSL 3, which Node is built with, keeps it out of its default provider. */
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
