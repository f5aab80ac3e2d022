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

  /** @param mayHold whether lines of such a text can be wanted: where not they are left out */
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

/**
 * Whether a text can have a line with a match: asked first, as it is far cheaper than to cut the text. Where `^` and `$` stand for the ends of
 * lines, what matches in a line matches in a text that holds it. So that no search goes on over all of the text, `[^…]` ends with a line there;
 * of what may stand in another line (`(?!…)`, `\D`, a dot for everything) the lines are looked at.
 */
export function mayMatch(pattern: RegExp | undefined): (text: string) => boolean {
  if (pattern === undefined || /\(\?<?!|\\[DPW]/.test(pattern.source) || pattern.dotAll) return () => true;
  const source = pattern.source.replaceAll(/(\\.)|\[\^/gs, (_all, escaped?: string) => escaped ?? "[^\\n");
  const inText = new RegExp(source, `${pattern.flags.replaceAll(/[dgmy]/g, "")}m`);
  return (text) => inText.test(text);
}

/** A bar that was wiped away, or a line that ends in CRLF, has its last word before that. */
function lastState(states: readonly string[]): string {
  return states.findLast((state) => state.trim() !== "") ?? states[0] ?? "";
}
