import { StringDecoder } from "node:string_decoder";

/** A line without an end is emitted in pieces of about this size. */
const longestLine = 16_384;

/**
 * Splits a stream of bytes into lines. Text that a carriage return overwrites, as with a progress bar, is left out: a line is the last
 * state that a terminal would have shown. Characters are never split.
 */
export class LineSplitter {
  readonly #decoder = new StringDecoder("utf8");
  /** The text since the last line end, of which only the last overwritten state is kept. */
  #rest = "";

  /** @param mayHold whether such a text can contain wanted lines; if not, its lines are left out */
  push(bytes: Uint8Array, mayHold: (text: string) => boolean = () => true): string[] {
    const text = this.#rest + this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const end = text.lastIndexOf("\n");
    const unfinished = text.slice(end + 1);
    const states = unfinished.split("\r");
    this.#rest = states.length < 3 ? unfinished : [lastState(states.slice(0, -1)), states.at(-1) ?? ""].join("\r");
    const whole = text.slice(0, Math.max(0, end));
    const ended = end >= 0 && mayHold(whole) ? whole.split("\n").map((line) => lastState(line.split("\r"))) : [];
    if (this.#rest.length > longestLine) {
      ended.push(lastState(this.#rest.split("\r")));
      this.#rest = "";
    }
    return ended;
  }

  /** The last complete state of a line that is still being overwritten; empty if there is none. */
  get overwritten(): string {
    const end = this.#rest.lastIndexOf("\r");
    return end < 0 ? "" : lastState(this.#rest.slice(0, end).split("\r"));
  }

  /** The rest, when no more bytes follow. */
  end(): string[] {
    const rest = lastState((this.#rest + this.#decoder.end()).split("\r"));
    this.#rest = "";
    return rest === "" ? [] : [rest];
  }
}

/**
 * Whether a text can contain a matching line: checked first, because it is far cheaper than splitting the text. With `^` and `$` meaning
 * line ends, a match in a line is also a match in the text that contains it. To keep a search from running on over the whole text, `[^…]`
 * there stops at a line end. For patterns that may look into other lines (`(?!…)`, `\D`, a dot that matches everything) all lines are
 * examined.
 */
export function mayMatch(pattern: RegExp | undefined): (text: string) => boolean {
  if (pattern === undefined || /\(\?<?!|\\[DPW]/.test(pattern.source) || pattern.dotAll) return () => true;
  const source = pattern.source.replaceAll(/(\\.)|\[\^/gs, (_all, escaped?: string) => escaped ?? "[^\\n");
  const inText = new RegExp(source, `${pattern.flags.replaceAll(/[dgmy]/g, "")}m`);
  return (text) => inText.test(text);
}

/** A bar that was wiped, or a line that ends in CRLF, has its last text before that. */
function lastState(states: readonly string[]): string {
  return states.findLast((state) => state.trim() !== "") ?? states[0] ?? "";
}
