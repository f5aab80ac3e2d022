import type { LogStream } from "../../src/api/messages.ts";
import { OUTPUT_INDEX, parseMarks } from "../../src/job/output-index.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { LogStore } from "../../src/logs/log-store.ts";
import { masterLog, type Tenancy, tenanciesOf } from "../../src/logs/master-log.ts";
import { type LineFilter, OrderedOutput, type OutputPiece } from "../../src/logs/ordered-output.ts";
import { executorLog } from "../../src/logs/own-log.ts";
import { closedOutput, type LogOfContainer } from "../../src/logs/stored-output.ts";
import type { AttemptConnection, LogRequest } from "../master/attempt-connection.ts";

const fileNames: Readonly<Record<LogStream, string>> = {
  stdout: "stdout",
  stderr: "stderr",
  index: OUTPUT_INDEX,
  executor: executorLog,
};

/**
 * The output of a running job, from its AM and executors. YARN may already have stored closed files and removed them from their nodes;
 * those are read from YARN's store.
 */
export class LiveOutput {
  readonly #link: AttemptConnection;
  readonly #store: LogStore;
  readonly #status: JobStatus;
  #tenancies: Promise<readonly Tenancy[]> | undefined;

  constructor(link: AttemptConnection, store: LogStore, status: JobStatus) {
    this.#link = link;
    this.#store = store;
    this.#status = status;
  }

  /** The AM's own log. */
  master(): AsyncIterable<OutputPiece> {
    const { amContainerId: containerId } = this.#status;
    const request = { task: "am", stream: "stdout", offset: 0 } as const;
    return this.#whole(request, async () => containerId && { containerId, log: masterLog });
  }

  /** The log of a task's executor. Reading throws when no executor has it. */
  executor(task: string): AsyncIterable<OutputPiece> {
    return this.#ofTask(task, "executor", 0);
  }

  /** A task's output so far. Throws when no executor has its log. */
  async task(task: string, filter: LineFilter): Promise<OrderedOutput> {
    const index: Uint8Array[] = [];
    for await (const { data } of this.#ofTask(task, "index", 0)) index.push(data);
    const marks = parseMarks(Buffer.concat(index).toString("utf8"));
    return new OrderedOutput({ marks, open: (stream, offset) => this.#ofTask(task, stream, offset) }, filter);
  }

  #ofTask(task: string, stream: LogStream, offset: number): AsyncIterable<OutputPiece> {
    const name = fileNames[stream];
    return this.#whole({ task, stream, offset }, async () => {
      const tenancy = await this.#tenancyOf(task);
      return tenancy && { containerId: tenancy.containerId, log: tenancy.logPrefix + name };
    });
  }

  async *#whole(
    request: Omit<LogRequest, "follow">,
    find: () => Promise<LogOfContainer | "" | undefined>,
  ): AsyncGenerator<OutputPiece> {
    let next = request.offset;
    for await (const piece of this.#link.readLog({ ...request, follow: false }, new AbortController().signal)) {
      if (piece.offset > next) yield* this.#stored(await find(), next, piece.offset);
      yield piece;
      next = piece.offset + piece.data.byteLength;
    }
  }

  /** Pieces that cannot be read there are missing, and reported as such. */
  async *#stored(log: LogOfContainer | "" | undefined, from: number, to: number): AsyncGenerator<OutputPiece> {
    if (!log) return;
    try {
      yield* closedOutput(this.#store, log, from, to);
    } catch {}
  }

  async #tenancyOf(task: string): Promise<Tenancy | undefined> {
    const containerId = this.#status.tasks.find((one) => one.task === task)?.containerId;
    this.#tenancies ??= this.#readTenancies();
    return (await this.#tenancies).find((tenancy) => tenancy.task === task && tenancy.containerId === containerId);
  }

  async #readTenancies(): Promise<readonly Tenancy[]> {
    const log: Uint8Array[] = [];
    for await (const { data } of this.master()) log.push(data);
    return tenanciesOf(Buffer.concat(log).toString("utf8"));
  }
}
