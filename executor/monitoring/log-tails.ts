import { INITIAL_TAIL_CREDIT_BYTES, type LogChunk, type LogStream, type TailRequest } from "../../src/api/messages.ts";
import type { RotatingLog } from "../../src/rotating-log.ts";
import type { OutputLogs } from "../output/output-files.ts";
import { Timer } from "../timers.ts";

const CHUNK_BYTES = 65_536;
/** A reader of a growing log that is further behind skips ahead, and is told how many bytes it missed. */
const MOST_BEHIND_BYTES = 4 * 1024 * 1024;
/** How far before the end such a reader continues. */
const RESUME_BYTES = 256 * 1024;
/** How often a log is checked for more. */
const LOOK_AGAIN_MS = 200;
/** The same while a reader waits because the connection is busy. */
const BUSY_MS = 20;

export interface LogTailsOptions {
  /** The executor's own. */
  readonly task: string;
  readonly logs: OutputLogs;
  /** Logs of a task that had the container before. */
  readonly earlierLogs: (task: string) => OutputLogs;
  readonly send: (chunk: LogChunk) => void;
  /** Whether the connection takes more now: the executor's other messages must not wait behind the logs of many readers. */
  readonly hasRoom: () => boolean;
  /** The generation whose program runs or ran last. */
  readonly generation: () => number;
}

/**
 * Sends logs to readers at the ApplicationMaster, each at its own pace: no more bytes are sent than the reader has granted, and only one
 * chunk is kept in memory.
 */
export class LogTails {
  readonly #options: LogTailsOptions;
  readonly #tails = new Map<number, Tail>();
  readonly #timer = new Timer();
  #isFinishing = false;

  constructor(options: LogTailsOptions) {
    this.#options = options;
  }

  request(request: TailRequest): void {
    if (request.cancel) this.#tails.delete(request.tailId);
    else this.#tails.set(request.tailId, this.#open(request));
    this.look();
  }

  credit(tailId: number, bytes: number): void {
    const tail = this.#tails.get(tailId);
    if (tail === undefined) return;
    tail.creditBytes += bytes;
    this.look();
  }

  /** Sends what can be sent now, and checks again as long as there is a reader. */
  look(): void {
    for (const tail of this.#tails.values()) this.#advance(tail);
    this.#timer.clear();
    const nextMs = this.#hasRoom() ? LOOK_AGAIN_MS : BUSY_MS;
    if (this.#tails.size > 0) this.#timer.set(nextMs, () => this.look());
  }

  /** The connection to all readers is lost. */
  clear(): void {
    this.#tails.clear();
    this.#timer.clear();
  }

  /** Nothing more will be written: readers get as much of the rest as they have credit for, and the end. */
  finish(): void {
    this.#isFinishing = true;
    for (const tail of this.#tails.values()) tail.follow = false;
    this.look();
    for (const tail of this.#tails.values()) this.#send(tail, Buffer.alloc(0), true);
    this.clear();
  }

  #hasRoom(): boolean {
    return this.#isFinishing || this.#options.hasRoom();
  }

  #open({ tailId, task, stream, offset, follow }: TailRequest): Tail {
    const isOwn = task === this.#options.task;
    const log = (isOwn ? this.#options.logs : this.#options.earlierLogs(task))[stream];
    const start = offset >= 0 ? offset : Math.max(0, log.sizeBytes + offset);
    const creditBytes = INITIAL_TAIL_CREDIT_BYTES;
    return { tailId, isOwn, stream, log, offset: start, follow, creditBytes, skippedBytes: 0 };
  }

  #advance(tail: Tail): void {
    const size = tail.log.sizeBytes;
    if (tail.follow && size - tail.offset > MOST_BEHIND_BYTES) skipTo(tail, size - RESUME_BYTES);
    while (tail.offset < size && tail.creditBytes > 0 && this.#hasRoom()) {
      skipTo(tail, tail.log.firstFrom(tail.offset));
      const data = tail.log.read(tail.offset, Math.min(CHUNK_BYTES, tail.creditBytes, size - tail.offset));
      if (data.length === 0) break;
      this.#send(tail, data, false);
    }
    if (tail.follow || tail.offset < size) return;
    this.#tails.delete(tail.tailId);
    this.#send(tail, Buffer.alloc(0), true);
  }

  #send(tail: Tail, data: Buffer, end: boolean): void {
    const { tailId, stream, offset, skippedBytes } = tail;
    const generation = tail.isOwn ? this.#options.generation() : 0;
    tail.offset += data.length;
    tail.creditBytes -= data.length;
    tail.skippedBytes = 0;
    this.#options.send({ tailId, stream, offset, data, end, generation, skippedBytes });
  }
}

/** Skips bytes that the reader is not to get, or that are gone. */
function skipTo(tail: Tail, offset: number): void {
  tail.skippedBytes += offset - tail.offset;
  tail.offset = offset;
}

interface Tail {
  readonly tailId: number;
  /** The log is that of the executor's own task. */
  readonly isOwn: boolean;
  readonly stream: LogStream;
  readonly log: RotatingLog;
  offset: number;
  follow: boolean;
  creditBytes: number;
  skippedBytes: number;
}
