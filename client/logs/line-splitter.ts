import { StringDecoder } from "node:string_decoder";

/** A line that does not end is given out in pieces of about this size. */
const longestLine = 16_384;

/** Cuts a stream of bytes into lines; a carriage return ends one too, so that a progress bar shows. Characters are never cut. */
export class LineSplitter {
  readonly #decoder = new StringDecoder("utf8");
  #rest = "";

  push(bytes: Uint8Array): string[] {
    const text = this.#rest + this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    // A carriage return at the very end may be half of CRLF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > longestLine) {
      lines.push(this.#rest);
      this.#rest = "";
    }
    return lines;
  }

  /** What is left when nothing follows. */
  end(): string[] {
    const rest = (this.#rest + this.#decoder.end()).replace(/\r$/, "");
    this.#rest = "";
    return rest === "" ? [] : [rest];
  }
}
