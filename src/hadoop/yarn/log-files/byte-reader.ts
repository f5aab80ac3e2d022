import { LogFormatError } from "./errors.ts";

/** Larger things than this are read as chunks; a length beyond it in front of a key or name is damage. */
const maximumReadBytes = 16 * 1024 * 1024;

/** Reads a stream of chunks piece by piece, never holding more than a chunk and the piece asked for. */
export class ByteReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunk: Buffer = Buffer.alloc(0);
  #position = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Whether nothing is left. */
  async atEnd(): Promise<boolean> {
    return !(await this.#fill());
  }

  /** Exactly so many bytes. @throws LogFormatError when fewer are left */
  async read(lengthBytes: number): Promise<Buffer> {
    if (lengthBytes < 0 || lengthBytes > maximumReadBytes)
      throw new LogFormatError(`a length of ${lengthBytes} is not possible here`);
    const pieces: Buffer[] = [];
    for await (const piece of this.take(lengthBytes)) pieces.push(piece);
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  }

  /** So many bytes as they come. @throws LogFormatError when fewer are left */
  async *take(lengthBytes: number): AsyncGenerator<Buffer> {
    let wanted = lengthBytes;
    while (wanted > 0) {
      if (!(await this.#fill())) throw new LogFormatError(`the data ends ${wanted} bytes too early`);
      const piece = this.#chunk.subarray(this.#position, this.#position + wanted);
      this.#position += piece.length;
      wanted -= piece.length;
      yield piece;
    }
  }

  async skip(lengthBytes: number): Promise<void> {
    for await (const _ of this.take(lengthBytes));
  }

  /** Passes over everything that is left. */
  async skipRest(): Promise<void> {
    while (await this.#fill()) this.#position = this.#chunk.length;
  }

  async #fill(): Promise<boolean> {
    while (this.#position >= this.#chunk.length) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      this.#chunk = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      this.#position = 0;
    }
    return true;
  }
}
