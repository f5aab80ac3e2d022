import type { LogReader } from "../../src/api/client-endpoint.ts";
import type { ExecutorLink } from "../../src/api/executor-endpoint.ts";
import { INITIAL_TAIL_CREDIT_BYTES, type LogChunk, type LogWanted } from "../../src/api/messages.ts";
import type { TaskId } from "../../src/job/task.ts";

/** One client that reads one task's log, across the executors that the task has in succession. */
interface Tail {
  readonly id: number;
  readonly request: LogWanted;
  readonly reader: LogReader;
  /**
   * The executor asked for the log; absent while the task has none and no other task's executor is in its container.
   */
  link: ExecutorLink | undefined;
  /** The container whose log was read last: another container's log is read from its beginning. */
  containerId: string;
  nextOffset: number;
  /** How many bytes that executor has sent and the reader has not taken yet. */
  sent: { untaken: number };
  /** Whether its executor has sent everything that the log will ever hold. */
  isWhole: boolean;
  /** Called when nothing more is sent to the reader. */
  over: () => void;
}

export interface LogTailsOptions {
  /** For a task without a container: the one where its program ended. Another task's executor there has its log. */
  readonly lastContainerOf: (task: TaskId) => string | undefined;
  /** What people call a task. */
  readonly spokenName: (task: TaskId) => string;
}

/**
 * Passes logs on from executors to clients. An executor sends more only after its reader has taken what it sent before.
 */
export class LogTails {
  readonly #options: LogTailsOptions;
  readonly #tails = new Map<number, Tail>();
  /** The executor that has each task now. */
  readonly #links = new Map<string, ExecutorLink>();
  #lastId = 0;
  /** Whether the job has ended: a lost executor is not replaced then. */
  #ending = false;

  constructor(options: LogTailsOptions) {
    this.#options = options;
  }

  /** @returns stops reading */
  open(request: LogWanted, reader: LogReader): () => void {
    const link = this.#holderOf(request.task);
    if (link === undefined && (!request.follow || this.#ending)) {
      reader.fail(
        `${this.#options.spokenName(request.task)} has no executor at present: its log can be read when it runs, or when the job has ended`,
      );
      return () => {};
    }
    this.#lastId += 1;
    const tail: Tail = {
      id: this.#lastId,
      request,
      reader,
      link: undefined,
      containerId: "",
      nextOffset: request.offset,
      sent: { untaken: 0 },
      isWhole: false,
      over: () => {},
    };
    this.#tails.set(tail.id, tail);
    if (link !== undefined) this.#attach(tail, link);
    return () => this.#cancel(tail);
  }

  /** The task has this executor now; clients that follow the task go on reading there. */
  connected(link: ExecutorLink): void {
    if (this.#links.get(link.task) === link) return;
    this.#links.set(link.task, link);
    for (const tail of this.#tails.values()) {
      if (this.#holderOf(tail.request.task) === link) this.#attach(tail, link);
    }
  }

  disconnected(link: ExecutorLink): void {
    if (this.#links.get(link.task) === link) this.#links.delete(link.task);
    for (const tail of this.#tails.values()) {
      if (tail.link !== link) continue;
      tail.link = undefined;
      // An executor that ended before it heard of a reader has sent it nothing.
      if (this.#ending && tail.isWhole) this.#end(tail);
      else if (this.#ending || !tail.request.follow)
        this.#fail(tail, `the executor of ${link.task} was lost while its log was read`);
    }
  }

  async chunk(link: ExecutorLink, chunk: LogChunk): Promise<void> {
    const tail = this.#tails.get(chunk.tailId);
    if (tail === undefined || tail.link !== link) return;
    const { sent } = tail;
    sent.untaken += chunk.data.length;
    if (sent.untaken > INITIAL_TAIL_CREDIT_BYTES) {
      this.#fail(tail, `the executor of ${tail.request.task} sends more of its log than it was asked for`);
      return;
    }
    tail.nextOffset = chunk.offset + chunk.data.length;
    tail.isWhole = chunk.end;
    // A client that follows a task reads on when the task gets another executor.
    const end = chunk.end && (this.#ending || !tail.request.follow);
    if (end) this.#tails.delete(tail.id);
    await tail.reader.send({ ...chunk, end });
    sent.untaken -= chunk.data.length;
    if (end) tail.over();
    else link.send(chunk.generation, { type: "tail-credit", tailId: tail.id, bytes: chunk.data.length });
  }

  /** The job has ended: resolves when every reader has the rest of its log. */
  async endAll(): Promise<void> {
    this.#ending = true;
    const over = [...this.#tails.values()].map((tail) => new Promise<void>((resolve) => (tail.over = resolve)));
    for (const tail of this.#tails.values()) if (tail.link === undefined) this.#end(tail);
    await Promise.all(over);
  }

  /** Aborts the readings that are still open. */
  abort(): void {
    for (const tail of this.#tails.values()) this.#fail(tail, "the job has ended before all of its log was read");
  }

  /** The executor that is asked for a task's log. */
  #holderOf(task: TaskId): ExecutorLink | undefined {
    const own = this.#links.get(task);
    if (own !== undefined) return own;
    const containerId = this.#options.lastContainerOf(task);
    return containerId === undefined ? undefined : this.#linkIn(containerId);
  }

  #linkIn(containerId: string): ExecutorLink | undefined {
    return [...this.#links.values()].find((link) => link.containerId === containerId);
  }

  #attach(tail: Tail, link: ExecutorLink): void {
    const elsewhere = tail.containerId !== "" && tail.containerId !== link.containerId;
    if (elsewhere) tail.nextOffset = 0;
    tail.containerId = link.containerId;
    tail.link = link;
    tail.sent = { untaken: 0 };
    tail.isWhole = false;
    const { task, stream, follow } = tail.request;
    link.send(0, { type: "tail-log", tailId: tail.id, task, stream, offset: tail.nextOffset, follow, cancel: false });
  }

  #end(tail: Tail): void {
    this.#tails.delete(tail.id);
    void tail.reader.send(lastChunk(tail)).then(tail.over);
  }

  #fail(tail: Tail, reason: string): void {
    this.#tails.delete(tail.id);
    tail.reader.fail(reason);
    tail.over();
  }

  #cancel(tail: Tail): void {
    if (!this.#tails.delete(tail.id)) return;
    tail.over();
    if (tail.link === undefined) return;
    const { task, stream, follow } = tail.request;
    tail.link.send(0, { type: "tail-log", tailId: tail.id, task, stream, offset: 0, follow, cancel: true });
  }
}

function lastChunk({ id, request, nextOffset }: Tail): LogChunk {
  return {
    tailId: id,
    stream: request.stream,
    offset: Math.max(nextOffset, 0),
    data: new Uint8Array(0),
    end: true,
    generation: 0,
    skippedBytes: 0,
  };
}
