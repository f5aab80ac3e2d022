import type { ApiError } from "../../src/api/errors.ts";
import { MasterStream } from "../../src/api/executor-client.ts";
import { judgeMasterMessage } from "../../src/api/fence.ts";
import type { ExecutorIdentity } from "../../src/api/identity.ts";
import {
  type ExecutorReport,
  type Hello,
  type MasterCommand,
  type MasterMessage,
  PROTOCOL_VERSION,
  type RejoinReply,
} from "../../src/api/messages.ts";
import type { SessionWanted } from "../../src/api/session-messages.ts";
import type { CallingSession, ServedSession } from "../../src/api/session-stream.ts";
import { backOffMs } from "../../src/hadoop/back-off.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { TaskId } from "../../src/job/task.ts";
import type { Log } from "../../src/log.ts";
import { type AbsenceLimits, MasterAbsence, type MasterAbsenceOptions } from "./master-absence.ts";
import type { MasterAddress } from "./master-address.ts";

export type Welcome = Extract<MasterCommand, { type: "welcome" }>;

export interface MasterLinkOptions extends Omit<MasterAbsenceOptions, "found"> {
  readonly identity: ExecutorIdentity;
  readonly build: string;
  readonly master: MasterAddress;
  readonly log: Log;
  readonly generation: () => number;
  /** What to register with; undefined while the executor is not ready to. */
  readonly registration: () => ExecutorRegistration | undefined;
  /** A stream is welcomed: whatever the ApplicationMaster may not know is to be sent again. */
  readonly joined: (welcome: Welcome) => void;
  readonly left: () => void;
  readonly command: (message: MasterMessage) => void;
  /** The ApplicationMaster refuses this executor. */
  readonly refused: (reason: string) => void;
}

/** A stream that is not welcomed in this time is closed: the ApplicationMaster may be stopped, or the server may not be it. */
const WELCOME_TIMEOUT_MS = 10_000;
/** Messages that may wait before readers of logs have to. */
const MOST_WAITING = 16;
const RECONNECT = { firstMs: 100, mostMs: 5_000 };
/** How often the address of another attempt is tried while the current ApplicationMaster is connected. */
const MOST_CANDIDATE_TRIES = 5;

interface Connection {
  readonly target: MasterAddress;
  readonly stream: MasterStream;
  readonly timeout: NodeJS.Timeout;
  registered: boolean;
}

/**
 * The executor's side of its stream to the ApplicationMaster. It reconnects when the stream breaks, changes to a later attempt when it
 * learns of one, and never back to an earlier one. Reports are dropped while there is no stream; `joined` is called when they can be sent
 * again.
 */
export class MasterLink {
  readonly #options: MasterLinkOptions;
  #current: MasterAddress;
  /** From the welcome of the attempt that is obeyed. */
  #attemptProof: Uint8Array = new Uint8Array();
  /** The reported address of a later attempt; it becomes the current one when it welcomes the executor. */
  #candidate: MasterAddress | undefined;
  #active: Connection | undefined;
  #trying: Connection | undefined;
  #failures = 0;
  #candidateFailures = 0;
  #retry: NodeJS.Timeout | undefined;
  readonly #absence: MasterAbsence;
  #closed = false;
  /** Who waits for a stream. */
  readonly #awaiting: (() => void)[] = [];

  constructor(options: MasterLinkOptions) {
    this.#options = options;
    this.#current = options.master;
    this.#absence = new MasterAbsence({ ...options, found: (master) => this.#found(master) });
  }

  /** The attempt that is obeyed, and where it is. */
  get master(): MasterAddress {
    return this.#current;
  }

  set limits(limits: AbsenceLimits) {
    this.#absence.limits = limits;
  }

  start(): void {
    this.#absence.begin();
    this.#connect(this.#current);
  }

  /** Registers on all open streams: what is registered has changed. */
  register(): void {
    for (const connection of [this.#active, this.#trying]) {
      if (connection !== undefined) this.#sendRegistration(connection);
    }
  }

  /** Sends a report about a generation. @param replaces an unsent report of this name is dropped */
  report(generation: number, body: ExecutorReport, replaces?: string): void {
    this.#active?.stream.send({ attempt: this.#current.attempt, generation, body }, replaces);
  }

  /** Whether little waits to be sent. */
  get hasRoom(): boolean {
    return (this.#active?.stream.waiting ?? 0) < MOST_WAITING;
  }

  /** To serve a session; undefined while no ApplicationMaster is connected. */
  serveSession(): ServedSession | undefined {
    return this.#active?.stream.serveSession();
  }

  /** A session with another task of the job; undefined while no ApplicationMaster is connected. */
  openSession(task: TaskId, wanted: SessionWanted): CallingSession | undefined {
    const session = this.#active?.stream.openSession();
    void session?.send({ type: "open", hello: this.#hello, task, wanted });
    return session;
  }

  /** Answers an attempt that calls with its address. */
  rejoin(candidate: MasterAddress): RejoinReply {
    const { attempt, address } = this.#current;
    if (candidate.attempt < attempt) return { accepted: false, reason: `attempt ${attempt} is obeyed already` };
    if (candidate.attempt === attempt && candidate.address === address && this.#active !== undefined) {
      return { accepted: true, reason: "" };
    }
    this.#tryCandidate(candidate);
    return { accepted: true, reason: "" };
  }

  /** Resolves when an ApplicationMaster is connected, and was told what it may not know. */
  async connected(): Promise<void> {
    if (this.#active === undefined) await new Promise<void>((resolve) => this.#awaiting.push(resolve));
  }

  /** Sends a goodbye and waits until it is sent. */
  async close(reason: string): Promise<void> {
    this.#closed = true;
    this.#absence.end();
    clearTimeout(this.#retry);
    this.report(this.#options.generation(), { type: "goodbye", reason });
    this.#drop(this.#trying);
    await this.#active?.stream.finish();
    this.#drop(this.#active);
  }

  get #hello(): Hello {
    return { protocol: PROTOCOL_VERSION, build: this.#options.build };
  }

  #connect(target: MasterAddress): void {
    const stream = new MasterStream({
      identity: this.#options.identity,
      address: target.address,
      onMessage: (message) => this.#receive(connection, message),
      onEnd: (error) => this.#ended(connection, error),
    });
    const timeout = setTimeout(() => this.#giveUp(connection), WELCOME_TIMEOUT_MS);
    const connection: Connection = { target, stream, timeout, registered: false };
    this.#trying = connection;
    this.#sendRegistration(connection);
  }

  #sendRegistration(connection: Connection): void {
    const registration = this.#options.registration();
    if (registration === undefined) return;
    connection.registered = true;
    const { generation } = registration;
    const body = { type: "register", hello: this.#hello, registration, attemptProof: this.#attemptProof } as const;
    connection.stream.send({ attempt: this.#current.attempt, generation, body });
  }

  #receive(connection: Connection, message: MasterMessage): void {
    const own = { attempt: this.#current.attempt, generation: this.#options.generation() };
    const verdict = judgeMasterMessage(message, own);
    if (verdict === "lower-attempt") this.#refuseLower(connection, message.attempt);
    else if (message.body.type === "welcome") this.#join(connection, message.attempt, message.body);
    else if (message.body.type === "refuse") this.#refusedBy(connection, message.body.reason);
    else if (connection === this.#active && verdict === "current") this.#options.command(message);
  }

  #join(connection: Connection, attempt: number, welcome: Welcome): void {
    clearTimeout(connection.timeout);
    if (connection === this.#active) return;
    const previous = this.#active;
    this.#trying = undefined;
    this.#active = connection;
    this.#current = { attempt, address: connection.target.address };
    this.#attemptProof = welcome.attemptProof;
    this.#candidate = undefined;
    this.#failures = 0;
    this.#candidateFailures = 0;
    this.#absence.end();
    clearTimeout(this.#retry);
    this.#drop(previous);
    this.#options.log.info("joined", `Connected to attempt ${attempt} at ${this.#current.address}.`, { attempt });
    this.#options.joined(welcome);
    for (const heard of this.#awaiting.splice(0)) heard();
  }

  #refuseLower(connection: Connection, attempt: number): void {
    const { log } = this.#options;
    log.warn("refused-attempt", `Refused attempt ${attempt}: attempt ${this.#current.attempt} is obeyed.`, { attempt });
    this.#giveUp(connection);
  }

  #refusedBy(connection: Connection, reason: string): void {
    if (connection.target === this.#candidate) this.#giveUp(connection);
    else this.#options.refused(reason);
  }

  #giveUp(connection: Connection): void {
    this.#drop(connection);
    this.#ended(connection);
  }

  #drop(connection: Connection | undefined): void {
    clearTimeout(connection?.timeout);
    connection?.stream.close();
  }

  #ended(connection: Connection, error?: ApiError): void {
    clearTimeout(connection.timeout);
    if (this.#closed) return;
    const cause = error === undefined ? "the stream ended" : error.message;
    if (connection === this.#active) {
      this.#active = undefined;
      this.#options.log.warn(
        "link-lost",
        `Lost the connection to the ApplicationMaster (${cause}); the program goes on running.`,
      );
      this.#options.left();
      this.#absence.begin();
    } else if (connection === this.#trying) {
      this.#trying = undefined;
      this.#failures += 1;
      this.#options.log.debug("connect-failed", `${connection.target.address} did not answer: ${cause}.`);
      if (connection.target === this.#candidate) this.#candidateFailed();
    } else {
      return;
    }
    this.#scheduleConnect();
  }

  #candidateFailed(): void {
    this.#candidateFailures += 1;
    if (this.#candidateFailures >= MOST_CANDIDATE_TRIES) this.#candidate = undefined;
  }

  #scheduleConnect(): void {
    clearTimeout(this.#retry);
    if (this.#trying !== undefined || (this.#active !== undefined && this.#candidate === undefined)) return;
    const delayMs = backOffMs(RECONNECT, Math.max(1, this.#failures), this.#options.random());
    this.#retry = setTimeout(() => this.#connect(this.#nextTarget()), delayMs);
  }

  /** Both addresses in turn, while either may be the right one. */
  #nextTarget(): MasterAddress {
    if (this.#candidate === undefined) return this.#current;
    return this.#active !== undefined || this.#failures % 2 === 0 ? this.#candidate : this.#current;
  }

  #tryCandidate(candidate: MasterAddress): void {
    const { log } = this.#options;
    log.info("candidate", `Attempt ${candidate.attempt} is reported to be at ${candidate.address}.`, {
      attempt: candidate.attempt,
    });
    this.#candidate = candidate;
    this.#candidateFailures = 0;
    this.#failures = 0;
    clearTimeout(this.#retry);
    const trying = this.#trying;
    this.#trying = undefined;
    this.#drop(trying);
    this.#connect(candidate);
  }

  #found(master: MasterAddress): void {
    const { attempt, address } = this.#current;
    const isNews = master.address !== address && master.address !== this.#trying?.target.address;
    if (master.attempt >= attempt && isNews) this.#tryCandidate(master);
  }
}
