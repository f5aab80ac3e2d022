import { setMaxListeners } from "node:events";
import type { LogStream } from "../../src/api/messages.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import type { TaskStatus } from "../../src/job/status.ts";
import type { MasterLink } from "../following/master-link.ts";
import { formatBytes } from "../output/format.ts";
import { LineSplitter } from "./line-splitter.ts";

const streams: readonly LogStream[] = ["stdout", "stderr"];
const retryAfterMs = 500;

/** How far one stream of one task has been read. */
interface Position {
  readonly task: string;
  readonly stream: LogStream;
  readonly splitter: LineSplitter;
  offset: number;
  generation: number;
}

/**
 * Follows the output of tasks through the AM, line by line. A link that breaks may be replaced by a new one: each stream goes on where
 * it was, so that nothing is lost or shown twice.
 */
export class TaskTails {
  readonly #print: (task: string, line: string) => void;
  readonly #positions = new Map<string, Position>();
  #link: MasterLink | undefined;
  #abort = new AbortController();
  #running = new Set<Promise<void>>();
  readonly #finishing = new AbortController();

  constructor(print: (task: string, line: string) => void) {
    this.#print = print;
  }

  /** Goes on through another link. */
  attach(link: MasterLink): void {
    this.detach();
    this.#link = link;
    this.#abort = new AbortController();
    // Each stream of each task listens: Node's warning of more than ten listeners is meant for leaks.
    setMaxListeners(Number.POSITIVE_INFINITY, this.#abort.signal);
    for (const position of this.#positions.values()) this.#start(position);
  }

  detach(): void {
    this.#abort.abort();
    this.#link = undefined;
  }

  /** Follows these tasks too; what has no program yet is read from its first byte on when it has. */
  follow(tasks: readonly TaskStatus[]): void {
    for (const { task } of tasks) {
      for (const stream of streams) {
        const key = `${task} ${stream}`;
        if (this.#positions.has(key)) continue;
        const position = { task, stream, splitter: new LineSplitter(), offset: 0, generation: 0 };
        this.#positions.set(key, position);
        this.#start(position);
      }
    }
  }

  /** Waits for the streams to end by themselves, or to break for good, then prints unfinished lines. */
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

  async #read(position: Position, link: MasterLink, signal: AbortSignal): Promise<void> {
    const { task, stream } = position;
    const over = AbortSignal.any([signal, this.#finishing.signal]);
    for (;;) {
      try {
        const request = { task, stream, offset: position.offset, follow: true };
        for await (const piece of link.readLog(request, signal)) this.#take(position, piece);
        return;
      } catch {
        // The link tells its breaking itself.
        await sleep(retryAfterMs, over);
        if (over.aborted) return;
      }
    }
  }

  #take(
    position: Position,
    piece: {
      readonly offset: number;
      readonly data: Uint8Array;
      readonly generation: number;
      readonly skippedBytes: number;
    },
  ): void {
    const { task, splitter } = position;
    if (piece.generation > position.generation) {
      this.#flush(position);
      position.generation = piece.generation;
    }
    if (piece.skippedBytes > 0)
      this.#print(task, `… ${formatBytes(piece.skippedBytes)} left out: tony-ts logs has them`);
    for (const line of splitter.push(piece.data)) this.#print(task, line);
    position.offset = piece.offset + piece.data.byteLength;
  }

  #flush({ task, splitter }: Position): void {
    for (const line of splitter.end()) this.#print(task, line);
  }
}
