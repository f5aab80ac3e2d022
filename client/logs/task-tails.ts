import { setMaxListeners } from "node:events";
import type { LogStream, OutputStream, ReadableStream } from "../../src/api/messages.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { sizeWords } from "../../src/job/reasons/words.ts";
import { LineSplitter } from "../../src/logs/line-splitter.ts";
import type { OutputLine } from "../../src/logs/ordered-output.ts";
import type { AttemptConnection, LogPiece } from "../master/attempt-connection.ts";

const outputStreams: readonly OutputStream[] = ["stdout", "stderr"];
const executorStreams: readonly ReadableStream[] = ["executor"];
const retryAfterMs = 500;
/** A progress bar that overwrites its line is shown at most this often. */
const barEveryMs = 5_000;

/** How far one stream of one task has been read. */
interface Position {
  readonly task: string;
  readonly stream: ReadableStream;
  readonly splitter: LineSplitter;
  offset: number;
  generation: number;
  /** The first piece may begin in the middle of a line, which is left out. */
  midLine: boolean;
  /** The whole stream was read, to its end. */
  whole: boolean;
  barShownAtMs: number;
}

export interface TaskTailsOptions {
  readonly print: (task: string, line: OutputLine) => void;
  readonly now: () => number;
  /** Where to begin in earlier output of a task; negative: so many bytes before its end. */
  readonly from: (task: string, stream: LogStream) => number;
  /** As in `LogsRequest.executor`. */
  readonly executor?: boolean;
}

/**
 * Follows the output of tasks through the AM, line by line. A broken link may be replaced by a new one: each stream continues at its
 * position, so that nothing is lost or shown twice.
 */
export class TaskTails {
  readonly #options: TaskTailsOptions;
  readonly #positions = new Map<string, Position>();
  #link: AttemptConnection | undefined;
  #attempt: number | undefined;
  #abort = new AbortController();
  #running = new Set<Promise<void>>();
  readonly #finishing = new AbortController();
  readonly #streams: readonly ReadableStream[];

  constructor(options: TaskTailsOptions) {
    this.#options = options;
    this.#streams = options.executor ? executorStreams : outputStreams;
  }

  /** Continues through another link. Another attempt's AM has another log. */
  attach(link: AttemptConnection, attempt: number): void {
    this.detach();
    this.#link = link;
    this.#abort = new AbortController();
    // Each stream of each task adds a listener: Node's warning about more than ten listeners is meant for leaks.
    setMaxListeners(Number.POSITIVE_INFINITY, this.#abort.signal);
    const restarted = this.#attempt !== undefined && attempt !== this.#attempt;
    this.#attempt = attempt;
    for (const position of this.#positions.values()) {
      if (restarted && position.task === "am") position.offset = 0;
      this.#start(position);
    }
  }

  detach(): void {
    this.#abort.abort();
    this.#link = undefined;
  }

  /** Follows these tasks too; a task without a program is read from its first byte once it has one. */
  follow(tasks: readonly string[], streams: readonly ReadableStream[] = this.#streams): void {
    for (const task of tasks) {
      for (const stream of streams) {
        const key = `${task} ${stream}`;
        if (this.#positions.has(key)) continue;
        const offset = this.#options.from(task, stream);
        const position = {
          task,
          stream,
          splitter: new LineSplitter(),
          offset,
          generation: 0,
          midLine: offset < 0,
          whole: false,
          barShownAtMs: this.#options.now(),
        };
        this.#positions.set(key, position);
        this.#start(position);
      }
    }
  }

  /** Whether all output of the task was read, to its end. */
  isWhole(task: string): boolean {
    return this.#streams.every((stream) => this.#positions.get(`${task} ${stream}`)?.whole === true);
  }

  /** Whether no output of the task was read. */
  isUnread(task: string): boolean {
    return this.#streams.every((stream) => (this.#positions.get(`${task} ${stream}`)?.offset ?? 0) === 0);
  }

  /** Waits for the streams to end by themselves, or to break for good; then prints unfinished lines. */
  async finish(limitMs: number): Promise<void> {
    this.#finishing.abort();
    await Promise.race([Promise.all(this.#running), sleep(limitMs, this.#abort.signal)]);
    this.#abort.abort();
    for (const position of this.#positions.values()) this.#flush(position);
  }

  #start(position: Position): void {
    const link = this.#link;
    if (link === undefined) return;
    const running = this.#read(position, link, this.#abort.signal).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #read(position: Position, link: AttemptConnection, signal: AbortSignal): Promise<void> {
    const { task, stream } = position;
    const over = AbortSignal.any([signal, this.#finishing.signal]);
    for (;;) {
      try {
        const request = { task, stream, offset: position.offset, follow: true };
        for await (const piece of link.readLog(request, signal)) this.#take(position, piece);
        position.whole = !signal.aborted;
        return;
      } catch {
        // The link reports itself that it broke.
        await sleep(retryAfterMs, over);
        if (over.aborted) return;
      }
    }
  }

  #take(position: Position, piece: LogPiece): void {
    const { splitter } = position;
    if (piece.generation > position.generation) {
      this.#flush(position);
      position.generation = piece.generation;
    }
    if (piece.skippedBytes > 0)
      this.#print(position, `… ${sizeWords(piece.skippedBytes)} left out: tony-ts logs has them`);
    for (const line of splitter.push(fromLineStart(position, piece))) this.#print(position, line);
    position.offset = piece.offset + piece.data.byteLength;
    this.#showBar(position);
  }

  /** Shows a progress bar that runs for hours before its line ends. */
  #showBar(position: Position): void {
    const nowMs = this.#options.now();
    const bar = position.splitter.overwritten;
    if (bar === "" || nowMs - position.barShownAtMs < barEveryMs) return;
    position.barShownAtMs = nowMs;
    this.#print(position, bar);
  }

  #flush(position: Position): void {
    for (const line of position.splitter.end()) this.#print(position, line);
  }

  #print({ task, stream, generation }: Position, line: string): void {
    this.#options.print(task, { stream, line, ...(generation === 0 ? {} : { generation }) });
  }
}

/** The piece without the tail of a line whose beginning was not read. */
function fromLineStart(position: Position, { offset, data }: LogPiece): Uint8Array {
  if (!position.midLine || data.byteLength === 0) return data;
  if (offset === 0) {
    position.midLine = false;
    return data;
  }
  const end = data.indexOf(0x0a);
  position.midLine = end < 0;
  return end < 0 ? new Uint8Array(0) : data.subarray(end + 1);
}
