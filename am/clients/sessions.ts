import type { CallerSession, SessionHandler } from "../../src/api/caller-session.ts";
import type { ExecutorLink } from "../../src/api/executor-endpoint.ts";
import type { WallClock } from "../../src/hadoop/clock.ts";
import { parseTaskId } from "../../src/job/task.ts";
import type { SessionRecords } from "./session-records.ts";

/** How many sessions may exist at a time: in a job, and with one task. */
export const mostSessions = 1_000;
export const mostOfTask = 64;
/**
 * How many of them a task of the job may have with another task, and how many are kept free for people: a program that misbehaves must
 * not keep its owner out.
 */
export const mostByTask = 16;
export const keptForPeople = 100;
/** A connected executor answers at once. */
export const acceptMs = 10_000;

export interface SessionsOptions {
  readonly clock: WallClock;
  readonly records: Pick<SessionRecords, "opened">;
  /** Why there is no such task; undefined: there is. */
  readonly unknownTask: (task: string) => string | undefined;
  /** What people call a task. */
  readonly spokenName: (task: string) => string;
  /** The executor that has a task now; undefined: none is connected. */
  readonly linkTo: (task: string) => ExecutorLink | undefined;
  /** The task that has a container now, and whose executor is connected; undefined: none. */
  readonly taskIn: (containerId: string) => string | undefined;
  /** The task that has a container now; undefined: none has. */
  readonly tenantOf: (containerId: string) => string | undefined;
}

interface Opened {
  readonly session: CallerSession;
  /** The link to the executor that serves it. */
  readonly link: ExecutorLink;
  /** Set until the executor has accepted the session. */
  cancelTimer: (() => void) | undefined;
}

/** Lets executors serve the callers' sessions. */
export class Sessions implements SessionHandler {
  readonly #options: SessionsOptions;
  readonly #opened = new Map<number, Opened>();
  #lastId = 0;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  open(session: CallerSession): void {
    const { unknownTask, linkTo, spokenName } = this.#options;
    const { task } = session;
    const link = linkTo(task);
    const unknown = unknownTask(task);
    if (unknown !== undefined) session.fail(unknown, { noSuchTask: true });
    else if (this.#isFull(session)) session.fail(`too many sessions are open with ${spokenName(task)}`);
    else if (link === undefined) session.fail(`${spokenName(task)} has no executor at present`);
    else this.#ask(session, link);
  }

  accepted(containerId: string, sessionId: number): CallerSession | undefined {
    const opened = this.#opened.get(sessionId);
    if (opened?.cancelTimer === undefined || opened.link.containerId !== containerId) return undefined;
    opened.cancelTimer();
    opened.cancelTimer = undefined;
    this.#options.records.opened(opened.session, { sessionId, containerId });
    return opened.session;
  }

  taskIn(containerId: string): string | undefined {
    return this.#options.taskIn(containerId);
  }

  tenantOf(containerId: string): string | undefined {
    return this.#options.tenantOf(containerId);
  }

  /** Whether commands or terminals run beside the programs. */
  get anyCommand(): boolean {
    return [...this.#opened.values()].some(({ session }) => session.wanted.type === "command");
  }

  /** The job has ended. */
  endAll(reason: string): void {
    for (const { session } of this.#opened.values()) session.fail(reason);
  }

  #isFull({ task, by }: CallerSession): boolean {
    const ofTask = [...this.#opened.values()].filter(({ session }) => session.task === task);
    if (this.#opened.size >= mostSessions || ofTask.length >= mostOfTask) return true;
    if (parseTaskId(by) === undefined) return false;
    const own = ofTask.filter(({ session }) => session.by === by);
    return this.#opened.size >= mostSessions - keptForPeople || own.length >= mostByTask;
  }

  #ask(session: CallerSession, link: ExecutorLink): void {
    this.#lastId += 1;
    const sessionId = this.#lastId;
    const late = () => session.fail(`the executor of ${session.task} does not answer`);
    this.#opened.set(sessionId, { session, link, cancelTimer: this.#options.clock.after(acceptMs, late) });
    session.onceOver(() => this.#over(sessionId));
    link.send(0, { type: "serve-session", sessionId });
  }

  /** The executor is told on its own link: the session's stream may be blocked by data that nobody takes. */
  #over(sessionId: number): void {
    const opened = this.#opened.get(sessionId);
    this.#opened.delete(sessionId);
    opened?.cancelTimer?.();
    opened?.link.send(0, { type: "end-session", sessionId });
  }
}
