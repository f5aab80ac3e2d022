import { StringDecoder } from "node:string_decoder";

/** A line that does not end is given out in pieces of about this size. */
const longestLine = 16_384;

/**
 * Cuts a stream of bytes into lines. What a carriage return overwrites, as a progress bar does, is left out: a line is the last state
 * that a terminal would have shown of it. Characters are never cut.
 */
export class LineSplitter {
  readonly #decoder = new StringDecoder("utf8");
  /** Since the last line ended, what was overwritten left out but for the last state. */
  #rest = "";

  push(bytes: Uint8Array): string[] {
    const text = this.#rest + this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const lines = text.split("\n");
    const unfinished = lines.pop() ?? "";
    const states = unfinished.split("\r");
    this.#rest = states.length < 3 ? unfinished : [lastState(states.slice(0, -1)), states.at(-1) ?? ""].join("\r");
    const ended = lines.map((line) => lastState(line.split("\r")));
    if (this.#rest.length > longestLine) {
      ended.push(lastState(this.#rest.split("\r")));
      this.#rest = "";
    }
    return ended;
  }

  /** The last whole state of a line that is still being overwritten; empty when there is none. */
  get overwritten(): string {
    const end = this.#rest.lastIndexOf("\r");
    return end < 0 ? "" : lastState(this.#rest.slice(0, end).split("\r"));
  }

  /** What is left when nothing follows. */
  end(): string[] {
    const rest = lastState((this.#rest + this.#decoder.end()).split("\r"));
    this.#rest = "";
    return rest === "" ? [] : [rest];
  }
}

/** A bar that was wiped away, or a line that ends in CRLF, has its last word before that. */
function lastState(states: readonly string[]): string {
  return states.findLast((state) => state.trim() !== "") ?? states[0] ?? "";
}
