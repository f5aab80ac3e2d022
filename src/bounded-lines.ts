/** Cuts a stream of text into lines. What comes without an end of line is kept only as far as a line may be long; longer ones are left out. */
export class BoundedLines {
  readonly #mostBytes: number;
  #rest = Buffer.alloc(0);
  #isTooLong = false;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** @returns the lines that end in it */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", from)) {
      this.#add(chunk.subarray(from, end));
      if (!this.#isTooLong) lines.push(this.#rest.toString("utf8"));
      this.#rest = Buffer.alloc(0);
      this.#isTooLong = false;
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
    return lines;
  }

  #add(piece: Buffer): void {
    this.#isTooLong ||= this.#rest.length + piece.length > this.#mostBytes;
    this.#rest = this.#isTooLong ? Buffer.alloc(0) : Buffer.concat([this.#rest, piece]);
  }
}
