import { stripVTControlCharacters } from "node:util";

/** Where text goes: a terminal or a pipe. */
export interface TextSink {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** What is waited for just now. */
export interface WaitBlock {
  /** All of it, redrawn in place on a terminal. */
  readonly lines: readonly string[];
  /** Without a terminal: one line instead of the block. */
  readonly line: string;
  /** The line is printed again when this changes (leave times out of it), and every 30 s. */
  readonly change: string;
}

export type Colour = "red" | "green" | "yellow" | "dim" | "bold";

/** Raised when a field of what is printed for programs goes or changes its meaning; new ones alone never raise it. */
const jsonVersion = 1;

const repeatAfterMs = 30_000;
const codes: Readonly<Record<Colour, readonly [number, number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  dim: [2, 22],
  bold: [1, 22],
};

/**
 * All that `tony-ts` prints goes through here. On a terminal the block of a wait stays below the lines printed so far and is redrawn in
 * place; in a pipe a wait is one line per change and one each 30 s. Results go to `out`, problems to `err`.
 */
export class Output {
  readonly isTerminal: boolean;
  readonly #out: TextSink;
  readonly #err: TextSink;
  readonly #coloured: boolean;
  readonly #now: () => number;
  #drawn: readonly string[] = [];
  #drawnColumns = 0;
  #lastChange: string | undefined;
  #lastPrintedAtMs = 0;

  constructor(options: {
    readonly out: TextSink;
    readonly err: TextSink;
    /** NO_COLOR and TERM=dumb are obeyed (https://no-color.org). */
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly now: () => number;
  }) {
    const { out, err, environment, now } = options;
    const dumb = environment.TERM === "dumb";
    this.#out = out;
    this.#err = err;
    this.#now = now;
    this.isTerminal = out.isTTY === true && !dumb;
    this.#coloured = this.isTerminal && (environment.NO_COLOR ?? "") === "";
  }

  get columns(): number {
    return this.#out.columns ?? 120;
  }

  /** Prints text, one or several lines, above the block of a wait. */
  print(text: string): void {
    this.#write(this.#out, text);
  }

  /** Prints a problem or a remark that is not part of the result. */
  problem(text: string): void {
    this.#write(this.#err, text);
  }

  /** Prints a result for programs; docs/json.md describes them all. */
  json(value: object): void {
    this.print(JSON.stringify({ jsonVersion, ...value }, undefined, 2));
  }

  /** The same on one line: one of many. */
  jsonLine(value: object): void {
    this.print(JSON.stringify({ jsonVersion, ...value }));
  }

  /** Shows what is waited for, instead of what was shown before. */
  wait(block: WaitBlock): void {
    if (this.isTerminal) this.#redraw(block.lines);
    else this.#waitLine(block, this.#out);
  }

  /** The same for a command whose result is `out`: without a terminal the line goes to `err`. */
  waitAside(block: WaitBlock): void {
    if (this.isTerminal) this.#redraw(block.lines);
    else this.#waitLine(block, this.#err);
  }

  /** The wait is over: its block goes from the terminal. */
  endWait(): void {
    this.#redraw([]);
    this.#lastChange = undefined;
  }

  paint(colour: Colour, text: string): string {
    const [on, off] = codes[colour];
    return this.#coloured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  }

  #waitLine({ line, change }: WaitBlock, sink: TextSink): void {
    const due = this.#now() - this.#lastPrintedAtMs >= repeatAfterMs;
    if (change === this.#lastChange && !due) return;
    this.#lastChange = change;
    this.#lastPrintedAtMs = this.#now();
    sink.write(`${line}\n`);
  }

  #write(sink: TextSink, text: string): void {
    const block = this.#drawn;
    this.#redraw([]);
    sink.write(text.endsWith("\n") ? text : `${text}\n`);
    this.#redraw(block);
  }

  /** Moves up over the block drawn last, clears to the end of the screen, draws the new one. Lines are cut at the terminal's width. */
  #redraw(lines: readonly string[]): void {
    if (!this.isTerminal || (lines.length === 0 && this.#drawn.length === 0)) return;
    const up = this.#drawn.length === 0 ? "" : `\u001b[${this.#rowsDrawn()}A\r\u001b[J`;
    const cut = lines.map((line) => cutTo(line, this.columns - 1));
    this.#out.write(up + cut.map((line) => `${line}\n`).join(""));
    this.#drawn = lines;
    this.#drawnColumns = this.columns;
  }

  /** A terminal that was made narrower since has wrapped the lines that it showed. */
  #rowsDrawn(): number {
    const rows = this.#drawn.map((line) => Math.min(widthOf(line), this.#drawnColumns - 1) / this.columns);
    return rows.reduce((sum, share) => sum + Math.max(1, Math.ceil(share)), 0);
  }
}

function widthOf(line: string): number {
  return stripVTControlCharacters(line).length;
}

/** Cuts a line that would wrap; a coloured one loses its colour then. */
function cutTo(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line;
  return `${stripVTControlCharacters(line).slice(0, Math.max(0, columns - 1))}…`;
}
