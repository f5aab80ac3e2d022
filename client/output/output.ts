import { visible, visibleJson, visibleLine } from "./visible.ts";
import { widthOf, wrap } from "./wrap.ts";

/** Where text goes: a terminal or a pipe. */
export interface TextSink {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
}

/** What the command is waiting for. */
export interface WaitBlock {
  /** The whole block, redrawn in place on a terminal. */
  readonly lines: readonly string[];
  /** A name for the wait that stays the same while it lasts. */
  readonly cause: string;
  /** Without a terminal, in place of the block: the wait, its duration so far, and how far it has come. */
  readonly line: string;
  /** The line without its times: when this changes, the line is printed again. */
  readonly change: string;
  /** The reasons: printed with the first line of a wait, later only new ones; the same holds for the next two fields. */
  readonly facts: readonly string[];
  /** What a person can do about it. */
  readonly remedy?: string | undefined;
  /** How long the wait can last, and what happens then. */
  readonly until?: string | undefined;
}

export type Colour = "red" | "green" | "yellow" | "dim" | "bold";

/** Text in a colour, where the terminal has colours. */
export interface Painted {
  readonly colour: Colour;
  readonly text: string;
}

/** Raised when a field of the JSON output is removed or changes its meaning; new fields never raise it. */
const jsonVersion = 1;

const repeatAfterMs = 30_000;
/** The shortest time between two lines of one wait in a pipe, whatever changes. */
const quietMs = 5_000;
const codes: Readonly<Record<Colour, readonly [number, number]>> = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  dim: [2, 22],
  bold: [1, 22],
};

/**
 * Everything that `tony-ts` prints goes through here. On a terminal the block of a wait stays below the lines printed so far and is
 * redrawn in place; in a pipe a wait is printed whole once, then only what is new, and one line every 30 s. Results go to `out`,
 * problems to `err`. Much of the text comes from others, such as names, addresses and diagnostics: its control characters are made
 * visible and have no effect, except in lines of logs.
 */
export class Output {
  readonly isTerminal: boolean;
  readonly #out: TextSink;
  readonly #err: TextSink;
  readonly #coloured: boolean;
  readonly #now: () => number;
  #drawn: readonly string[] = [];
  #drawnRows: readonly string[] = [];
  /** The last printed line, by cause. */
  readonly #told = new Map<
    string,
    { readonly atMs: number; readonly change: string; readonly facts: readonly string[] }
  >();

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
    return columnsOf(this.#out) ?? 120;
  }

  /** Prints text of one or several lines above the block of a wait, wrapped between words on a terminal. */
  print(...parts: readonly (string | Painted)[]): void {
    const text = parts.map((part) => (typeof part === "string" ? visible(part) : this.#paint(part)));
    this.#write(this.#out, fitted(text.join(""), this.#out));
  }

  /** Prints a problem or a remark that is not part of the result. */
  problem(text: string): void {
    this.#write(this.#err, fitted(visible(text), this.#err));
  }

  /** Prints lines without wrapping them: for other programs, or because they fit already. */
  preformatted(text: string): void {
    this.#write(this.#out, visible(text));
  }

  /** Prints a line of a log as the program wrote it, behind a label. */
  logLine(label: string, line: string, to: "out" | "err" = "out"): void {
    this.#write(to === "out" ? this.#out : this.#err, visibleLine(label) + line);
  }

  /** Prints a result for programs; docs/reference/json.md describes them all. */
  json(value: object): void {
    this.#write(this.#out, visibleJson({ jsonVersion, ...value }, 2));
  }

  /** The same on a single line, as one of many. */
  jsonLine(value: object): void {
    this.#write(this.#out, visibleJson({ jsonVersion, ...value }));
  }

  /** Shows a wait in place of the one shown before. */
  wait(block: WaitBlock): void {
    if (this.isTerminal) this.#redraw(block.lines);
    else this.#waitLine(block, this.#out);
  }

  /** The same for a command whose result goes to `out`: without a terminal the line goes to `err`. */
  waitAside(block: WaitBlock): void {
    if (this.isTerminal) this.#redraw(block.lines);
    else this.#waitLine(block, this.#err);
  }

  /** Ends the wait: removes its block from the terminal. */
  endWait(): void {
    this.#redraw([]);
  }

  /** A person has typed a line: the terminal shows it below the block, and it is removed with the block. */
  typed(line: string): void {
    if (this.#drawnRows.length > 0) this.#drawnRows = [...this.#drawnRows, line];
  }

  #paint({ colour, text }: Painted): string {
    const [on, off] = codes[colour];
    return this.#coloured ? `\u001b[${on}m${visible(text)}\u001b[${off}m` : visible(text);
  }

  #waitLine({ cause, line, change, facts, remedy, until }: WaitBlock, sink: TextSink): void {
    const nowMs = this.#now();
    const before = this.#told.get(cause);
    const sinceMs = before === undefined ? Number.POSITIVE_INFINITY : nowMs - before.atMs;
    const told = [...facts, ...present(remedy), ...present(until)];
    const isNew = (fact: string) => before?.facts.includes(fact) !== true;
    const why = [
      facts.filter(isNew).join("; "),
      ...present(remedy)
        .filter(isNew)
        .map((text) => `→ ${text}`),
    ];
    const news = [why.filter((text) => text !== "").join(" "), ...present(until).filter(isNew)];
    const said = news.filter((text) => text !== "").join("; ");
    const changed = said !== "" || change !== before?.change;
    if (sinceMs < (changed ? quietMs : repeatAfterMs)) return;
    this.#told.set(cause, { atMs: nowMs, change, facts: told });
    sink.write(`${visible(said === "" ? line : `${line}: ${said}`)}\n`);
  }

  #write(sink: TextSink, text: string): void {
    const block = this.#drawn;
    this.#redraw([]);
    sink.write(text.endsWith("\n") ? text : `${text}\n`);
    this.#redraw(block);
  }

  /** Moves the cursor to the top of the last block, clears to the end of the screen, and draws the new block, wrapped at the terminal's width. */
  #redraw(lines: readonly string[]): void {
    if (!this.isTerminal || (lines.length === 0 && this.#drawn.length === 0)) return;
    const up = this.#drawnRows.length === 0 ? "" : `\u001b[${this.#rowsDrawn()}A\r\u001b[J`;
    const rows = fitRows(
      lines.flatMap((line) => wrap(visibleLine(line), this.columns - 1)),
      this.#out.rows,
    );
    this.#out.write(up + rows.map((row) => `${row}\n`).join(""));
    this.#drawn = lines;
    this.#drawnRows = rows;
  }

  /** A terminal that has become narrower since has wrapped the rows that it showed. */
  #rowsDrawn(): number {
    return this.#drawnRows.reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row) / this.columns)), 0);
  }
}

function present(text: string | undefined): string[] {
  return text === undefined ? [] : [text];
}

/** The first rows: a block higher than the screen could not be redrawn. */
function fitRows(rows: readonly string[], screenRows = Number.POSITIVE_INFINITY): readonly string[] {
  return rows.length < screenRows ? rows : [...rows.slice(0, screenRows - 2), "…"];
}

/** Some terminals do not report their width. */
function columnsOf({ columns }: TextSink): number | undefined {
  return columns === 0 ? undefined : columns;
}

function fitted(text: string, sink: TextSink): string {
  const columns = columnsOf(sink);
  if (sink.isTTY !== true || columns === undefined) return text;
  return text
    .split("\n")
    .flatMap((line) => wrap(line, columns - 1, "whole"))
    .join("\n");
}
