import { TonyError } from "../src/errors.ts";
import { parseLogFileName } from "../src/job/closed-log.ts";
import type { JobStatus } from "../src/job/status.ts";
import { parseTaskId } from "../src/job/task.ts";
import type { StoredLog, StoredLogs } from "../src/logs/log-store.ts";
import { type Tenancy, tenanciesOf } from "../src/logs/master-log.ts";
import type { LineFilter, OutputLine } from "../src/logs/ordered-output.ts";
import { fieldsOf, ownLines } from "../src/logs/own-log.ts";
import { readMasterLogs, StoredTask } from "../src/logs/stored-tasks.ts";

/** Which lines of a job's logs to read. */
export interface LogQuery {
  /** `worker:0`; `am`: the ApplicationMaster's own log. */
  readonly task: string;
  /** The number of last lines. */
  readonly tail: number;
  readonly stream: LineFilter["stream"];
  /** Only lines that contain it; empty: all lines. */
  readonly text: string;
}

export interface LogAnswer {
  /** The tasks that have logs, by the ApplicationMaster's log, or else by the history. */
  readonly tasks: readonly string[];
  readonly lines: readonly OutputLine[];
  /** Whether earlier lines were left out. */
  readonly isCut: boolean;
  /** How much of the log was lost because its node removed it. */
  readonly missingBytes: number;
}

const MOST_LINES = 2_000;
const USUAL_LINES = 200;
const MOST_TEXT = 200;
/** The limit for all lines of an answer. */
export const MOST_LOG_BYTES = 2 ** 20;
const MOST_TASKS = 10_000;
/** The limit for logs that are read as a whole: the ApplicationMaster's log, and the index of a task's. A job can write anything into its own. */
export const MOST_WHOLE_BYTES = 64 * 2 ** 20;
/** Reading takes CPU time, which other requests need, too. */
export const MOST_READERS = 2;
export const LONGEST_READ_MS = 60_000;

/** @returns what is wrong with the query, if anything is */
export function parseLogQuery(query: URLSearchParams): LogQuery | string {
  const { task = "", tail = String(USUAL_LINES), stream = "", text = "", ...others } = Object.fromEntries(query);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return `${unknown} is not one of task, tail, stream, text`;
  if (!/^([a-z][a-z0-9-]{0,99}:\d{1,9}|am)$/.test(task)) return "task is one such as worker:0, or am";
  if (!/^\d{1,6}$/.test(tail) || Number(tail) === 0) return "tail is a number of lines";
  if (stream !== "" && stream !== "stdout" && stream !== "stderr") return "stream is stdout or stderr";
  if (text.length > MOST_TEXT) return `text has at most ${MOST_TEXT} characters`;
  return { task, tail: Math.min(Number(tail), MOST_LINES), stream: stream === "" ? undefined : stream, text };
}

/** Reads the logs of ended jobs that nodes have stored: a few at a time, in bounded memory and time. */
export class JobLogs {
  readonly #storeOf: (user: string, applicationId: string) => StoredLogs;
  readonly #timeout: (ms: number) => AbortSignal;
  #readers = 0;

  /** @param timeout only tests set it */
  constructor(
    storeOf: (user: string, applicationId: string) => StoredLogs,
    timeout: (ms: number) => AbortSignal = AbortSignal.timeout,
  ) {
    this.#storeOf = storeOf;
    this.#timeout = timeout;
  }

  /**
   * @param user who ran the job: the caller has verified this, because the portal may read other users' logs
   * @throws TonyError (`BUSY`, `NO_LOGS`, `NO_SUCH_TASK`, `LOG_TOO_LONG`)
   */
  async read(user: string, status: JobStatus, query: LogQuery, gone: AbortSignal): Promise<LogAnswer> {
    if (this.#readers >= MOST_READERS)
      throw new TonyError("Too many people are reading logs: try again in a moment", { code: "BUSY" });
    this.#readers += 1;
    try {
      const { applicationId } = status;
      const signal = AbortSignal.any([gone, this.#timeout(LONGEST_READ_MS)]);
      return await readLogs(new BoundedLogs(this.#storeOf(user, applicationId), applicationId, signal), status, query);
    } finally {
      this.#readers -= 1;
    }
  }
}

async function readLogs(store: StoredLogs, status: JobStatus, query: LogQuery): Promise<LogAnswer> {
  const master = (await readMasterLogs(store)).join("");
  const known = tenanciesOf(master);
  const tenancies = known.length === 0 ? lastTenancies(status) : known;
  const tasks = [...new Set(tenancies.map(({ task }) => task))].slice(0, MOST_TASKS);
  const filter: LineFilter = {
    ...(query.text === "" ? {} : { pattern: new RegExp(query.text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")) }),
    ...(query.stream === undefined ? {} : { stream: query.stream }),
  };
  const stored = new StoredTask();
  const own = tenancies.filter(({ task }) => task === query.task);
  const lines = query.task === "am" ? masterLines(master, query.text) : stored.lines(store, own, filter);
  const tail = new Tail(query.tail);
  for await (const line of lines) tail.push(line);
  if (tail.lines.length === 0 && !tail.isCut) await assertStored(store, status);
  if (query.task !== "am" && own.length === 0 && !isTask(query.task, status))
    throw new TonyError(`The job has no task ${query.task}`, { code: "NO_SUCH_TASK" });
  return { tasks, lines: tail.lines, isCut: tail.isCut, missingBytes: stored.missingBytes };
}

/** Used where the ApplicationMaster's log is gone, or is TonY's: the last container of each task. */
function lastTenancies({ tasks }: JobStatus): Tenancy[] {
  return tasks.flatMap(({ task, containerId }) =>
    containerId === undefined ? [] : [{ task, containerId, logPrefix: "", ran: true }],
  );
}

function isTask(asked: string, { roles, tasks }: JobStatus): boolean {
  const { role, index = 0 } = parseTaskId(asked) ?? {};
  return tasks.some(({ task }) => task === asked) || roles.some((one) => one.name === role && index < one.instances);
}

async function* masterLines(text: string, wanted: string): AsyncGenerator<OutputLine> {
  async function* bytes() {
    yield Buffer.from(text);
  }
  for await (const line of ownLines(bytes(), "stdout", {})) {
    const { level, message } = fieldsOf(line.line);
    const words =
      typeof message === "string" && typeof level === "string" ? `${level.padEnd(5)}  ${message}` : line.line;
    if (words.includes(wanted)) yield { ...line, line: words };
  }
}

async function assertStored(store: StoredLogs, { applicationId }: JobStatus): Promise<void> {
  for await (const _file of store.logs(() => true)) return;
  throw new TonyError(
    `There are no logs of ${applicationId}: nodes store them within a minute of a job's end, where yarn.log-aggregation-enable is set, ` +
      "and YARN removes them after yarn.log-aggregation.retain-seconds",
    { code: "NO_LOGS" },
  );
}

/** Keeps the last lines, in bounded memory. */
class Tail {
  readonly lines: OutputLine[] = [];
  readonly #most: number;
  #bytes = 0;
  isCut = false;

  constructor(most: number) {
    this.#most = most;
  }

  push(line: OutputLine): void {
    this.lines.push(line);
    this.#bytes += line.line.length;
    while (this.lines.length > this.#most || (this.#bytes > MOST_LOG_BYTES && this.lines.length > 1)) {
      this.#bytes -= this.lines.shift()?.line.length ?? 0;
      this.isCut = true;
    }
  }
}

/** Logs with a limit on what is read as a whole; reading stops when the requester is gone. */
class BoundedLogs implements StoredLogs {
  readonly #store: StoredLogs;
  readonly #applicationId: string;
  readonly #signal: AbortSignal;
  #wholeBytes = 0;

  constructor(store: StoredLogs, applicationId: string, signal: AbortSignal) {
    this.#store = store;
    this.#applicationId = applicationId;
    this.#signal = signal;
  }

  async *logs(wanted: (containerId: string) => boolean): AsyncGenerator<StoredLog> {
    for await (const file of this.#store.logs(wanted)) {
      if (this.#signal.aborted) throw this.#tooLong(`within ${LONGEST_READ_MS / 1000} s`);
      yield { ...file, content: this.#content(file) };
    }
  }

  async *#content({ name, content }: StoredLog): AsyncGenerator<Uint8Array> {
    const isStream = /(^|\.)(stdout|stderr)$/.test(parseLogFileName(name).log);
    for await (const piece of content) {
      if (!isStream) this.#wholeBytes += piece.byteLength;
      if (this.#wholeBytes > MOST_WHOLE_BYTES) throw this.#tooLong("here, it has too much");
      if (this.#signal.aborted) throw this.#tooLong(`within ${LONGEST_READ_MS / 1000} s`);
      yield piece;
    }
  }

  #tooLong(why: string): TonyError {
    const id = this.#applicationId;
    return new TonyError(`The log cannot be read to its end ${why}: tony-ts logs ${id} reads it`, {
      code: "LOG_TOO_LONG",
    });
  }
}
