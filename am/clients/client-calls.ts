import { shortened } from "../../src/api/believable.ts";
import type { ClientHandler, Follower, LogReader, TransactionWanted } from "../../src/api/client-endpoint.ts";
import type { LogWanted, WatchRequest } from "../../src/api/messages.ts";
import { UserError } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { type JobSpec, tasksOfRole } from "../../src/job/spec.ts";
import type { StoreAnswer } from "../../src/job/store/transaction.ts";
import type { Watched } from "../../src/job/store/watched.ts";
import { parseTaskId } from "../../src/job/task.ts";
import type { RotatingLog } from "../../src/rotating-log.ts";
import { allRights, rightsOfTask } from "../core/store/rights.ts";
import type { LogTails } from "../executors/log-tails.ts";
import type { JobStore } from "./job-store.ts";
import type { StatusFeed } from "./status-feed.ts";

const chunkBytes = 65_536;
/** How often a log that is followed is checked for more. */
const checkAgainMs = 200;

/** Sends a client the ApplicationMaster's own log from disk. @returns stops it */
export function readOwnLog(log: RotatingLog, request: LogWanted, reader: LogReader): () => void {
  const reading = new AbortController();
  void readAll(log, request, reader, reading.signal).catch((error: unknown) => {
    if (!reading.signal.aborted) reader.fail(`${log.file} cannot be read: ${errorMessage(error)}`);
  });
  return () => reading.abort();
}

async function readAll(log: RotatingLog, request: LogWanted, reader: LogReader, signal: AbortSignal): Promise<void> {
  const { stream, follow } = request;
  let from = request.offset >= 0 ? request.offset : Math.max(0, log.sizeBytes + request.offset);
  while (!signal.aborted) {
    const offset = log.firstFrom(from);
    const data = log.read(offset, chunkBytes);
    const end = data.length === 0 && !follow;
    const skippedBytes = offset - from;
    if (data.length > 0 || end)
      await reader.send({ tailId: 0, stream, offset, data, end, generation: 0, skippedBytes });
    if (end) return;
    from = offset + data.length;
    if (data.length === 0) await sleep(checkAgainMs);
  }
}

export interface ClientCallsOptions {
  readonly spec: JobSpec;
  readonly feed: Pick<StatusFeed, "follow">;
  readonly tails: Pick<LogTails, "open">;
  /** The ApplicationMaster's own log. */
  readonly ownLog: RotatingLog;
  /** The job's owner: when anybody else ends the job, the reason names them. */
  readonly owner: string;
  readonly store: Pick<JobStore, "call" | "watch">;
  /** Answers the questions of the job's page; absent: the job has none. */
  readonly askPage?: ClientHandler["askPage"];
  /** Asks for the job's end. */
  readonly stop: (reason: string) => void;
}

/** What `tony-ts` asks of this ApplicationMaster. */
export class ClientCalls implements ClientHandler {
  readonly #options: ClientCallsOptions;

  constructor(options: ClientCallsOptions) {
    this.#options = options;
  }

  follow(follower: Follower): () => void {
    return this.#options.feed.follow(follower);
  }

  readLog(request: LogWanted, reader: LogReader): () => void {
    if (request.task === "am") return readOwnLog(this.#options.ownLog, request, reader);
    const problem = unknownTask(this.#options.spec, request.task, ["am"]);
    if (problem === undefined) return this.#options.tails.open(request, reader);
    reader.fail(problem);
    return () => {};
  }

  stop(reason: string, user: string): boolean {
    const { owner, stop } = this.#options;
    stop(toldReason(reason, { user, owner }));
    return true;
  }

  async askPage(path: string): Promise<string> {
    const { askPage } = this.#options;
    if (askPage === undefined) throw new UserError("The job has no page (tony.am.page.enabled)", { code: "NO_PAGE" });
    return await askPage(path);
  }

  /** People who call may use the whole store. */
  async transact({ transaction, owner, generation, durable }: TransactionWanted, task?: string): Promise<StoreAnswer> {
    const { store } = this.#options;
    if (task !== undefined) {
      const whose = { owner: task, generation: generation ?? 0 };
      return await store.call({ transaction, rights: rightsOfTask(task), durable, ...whose });
    }
    const problem = owner === undefined ? undefined : unknownTask(this.#options.spec, owner);
    if (problem !== undefined) return { code: "no-owner", message: problem };
    const whose = owner === undefined ? {} : { owner };
    return await store.call({ transaction, rights: allRights, durable, ...whose });
  }

  async watch({ from, to, after }: WatchRequest, tell: (news: Watched) => Promise<void>, task?: string) {
    const range = { from, ...(to !== undefined && { to }) };
    const wanted = { range, ...(after && { after }) };
    return await this.#options.store.watch(wanted, task === undefined ? allRights : rightsOfTask(task), tell);
  }
}

/**
 * Why somebody ends the job, as one line that is printed and that YARN keeps. It names the user unless that is the owner.
 */
export function toldReason(reason: string, { user, owner }: { readonly user: string; readonly owner: string }): string {
  const told = shortened(reason);
  return user === owner || told.startsWith(`killed by ${user} `) ? told : `${told}, by ${user}`;
}

/**
 * The message for a caller that names a task which the job does not have; undefined: it has it. @param others what else a
 * caller may name
 */
export function unknownTask(
  spec: Pick<JobSpec, "roles" | "trials">,
  task: string,
  others: readonly string[] = [],
): string | undefined {
  const name = parseTaskId(task);
  const role = spec.roles.find((candidate) => candidate.name === name?.role);
  if (name !== undefined && role !== undefined && name.index < tasksOfRole(spec, role)) return undefined;
  const all = spec.roles.map((one) => {
    const count = tasksOfRole(spec, one);
    return count === 1 ? `${one.name}:0` : `${one.name}:0 to ${one.name}:${count - 1}`;
  });
  return `The job has no task ${task}; there are ${[...others, ...all].join(", ")}`;
}
