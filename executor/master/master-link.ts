import { MasterStream } from "../../src/api/executor-client.ts";
import type { ExecutorIdentity } from "../../src/api/identity.ts";
import {
  type EndsReply,
  type EndsRequest,
  type ExecutorReport,
  type FeedReply,
  type FeedRequest,
  type Hello,
  type MasterCommand,
  type MasterMessage,
  PROTOCOL_VERSION,
  type RejoinReply,
  type TaskTransaction,
  type WatchReply,
  type WatchRequest,
} from "../../src/api/messages.ts";
import type { SessionWanted } from "../../src/api/session-messages.ts";
import type { CallingSession, ServedSession } from "../../src/api/session-stream.ts";
import type { ExecutorRegistration } from "../../src/job/execution.ts";
import type { StoreAnswer } from "../../src/job/store/transaction.ts";
import type { TaskId } from "../../src/job/task.ts";
import type { Log } from "../../src/log.ts";
import { createExecutorCore, type ExecutorCore } from "../core/core.ts";
import type { Effect } from "../core/effects.ts";
import type { Event } from "../core/events.ts";
import { suspendedMs } from "../core/isolation.ts";
import type { AbsenceLimits, MasterAddress, StagingNews } from "../core/master.ts";
import { Timer } from "../timers.ts";

export type Welcome = Extract<MasterCommand, { type: "welcome" }>;

export interface MasterLinkOptions {
  readonly identity: ExecutorIdentity;
  readonly build: string;
  readonly master: MasterAddress;
  /** Used until the job's own limits are known: no program runs before that. */
  readonly limits: AbsenceLimits;
  readonly log: Log;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
  /** Milliseconds that never run backwards. */
  readonly monotonicMs: () => number;
  readonly generation: () => number;
  /** What to register with; undefined while the executor is not ready to. */
  readonly registration: () => ExecutorRegistration | undefined;
  /** A stream is welcomed: whatever the ApplicationMaster may not know must be sent again. */
  readonly joined: (welcome: Welcome) => void;
  readonly left: () => void;
  readonly command: (message: MasterMessage) => void;
  /** The ApplicationMaster refuses this executor. */
  readonly refused: (reason: string) => void;
  /** Looks into the staging folder; undefined when it cannot be reached. */
  readonly lookIntoStaging: () => Promise<StagingNews | undefined>;
  /** The task runs in another container. */
  readonly replaced: () => void;
  /** Uploads wait while it is closed. */
  readonly gate: { open(): void; close(reason: string): void };
  /** Suspends the program of a generation, or resumes it. */
  readonly suspend: (generation: number) => void;
  readonly resume: (generation: number) => void;
  /** No ApplicationMaster for this long. */
  readonly orphaned: (silentMs: number) => void;
}

/** How many messages may wait to be sent before log readers are held back. */
const MOST_WAITING = 16;
const ENDING: RejoinReply = { accepted: false, reason: "the executor ends" };

/**
 * The executor's streams to the ApplicationMaster, opened and closed as its core decides, and its looks into the staging folder.
 * Reports are dropped while there is no stream; `joined` is called when they can be sent again.
 */
export class MasterLink {
  readonly #options: MasterLinkOptions;
  readonly #core: ExecutorCore;
  readonly #streams = new Map<number, MasterStream>();
  readonly #timer = new Timer();
  readonly #inbox: Event[] = [];
  #isBusy = false;
  /** From the welcome of the attempt that is obeyed. */
  #attemptProof: Uint8Array = new Uint8Array();
  /** Callers that wait for a stream. */
  readonly #awaiting: (() => void)[] = [];
  #answer: RejoinReply = ENDING;
  #closed: Promise<void> | undefined;

  constructor(options: MasterLinkOptions) {
    this.#options = options;
    this.#core = createExecutorCore(options.master, options.limits);
  }

  /** The attempt that is obeyed, and its address. */
  get master(): MasterAddress {
    return this.#core.state.link.current;
  }

  set limits(limits: AbsenceLimits) {
    this.#post({ type: "limits", limits });
  }

  start(): void {
    this.#post({ type: "begun" });
  }

  /** Registers on all open streams: what is registered has changed. */
  register(): void {
    this.#post({ type: "changed" });
  }

  programStarted(generation: number): void {
    this.#post({ type: "program-started", generation });
  }

  programEnded(generation: number): void {
    this.#post({ type: "program-ended", generation });
  }

  /** How long a program was suspended, as far as the ApplicationMaster has not been told. */
  suspendedMs(generation: number): number {
    return suspendedMs(this.#core.state, generation, this.#options.monotonicMs());
  }

  /** Nothing is obeyed from then on. */
  endingBegins(): void {
    this.#post({ type: "ending" });
  }

  /** Sends a report about a generation. @param replaces an unsent report of this name is dropped */
  report(generation: number, body: ExecutorReport, replaces?: string): void {
    this.#active?.send({ attempt: this.master.attempt, generation, body }, replaces);
  }

  /** Whether little waits to be sent. */
  get hasRoom(): boolean {
    return (this.#active?.waiting ?? 0) < MOST_WAITING;
  }

  /** A stream to serve a session; undefined while no ApplicationMaster is connected. */
  serveSession(): ServedSession | undefined {
    return this.#active?.serveSession();
  }

  /** A session with another task of the job; undefined while no ApplicationMaster is connected. */
  openSession(task: TaskId, wanted: SessionWanted): CallingSession | undefined {
    const session = this.#active?.openSession();
    void session?.send({ type: "open", hello: this.#hello, task, wanted });
    return session;
  }

  /** Calls the job's key-value store; undefined while no ApplicationMaster is connected. Rejects with an ApiError. */
  transact(wanted: Omit<TaskTransaction, "id">, timeoutMs: number): Promise<StoreAnswer> | undefined {
    return this.#active?.transact(wanted, timeoutMs);
  }

  /** The changes of the store; undefined while no ApplicationMaster is connected. */
  watch(request: Omit<WatchRequest, "hello">, signal: AbortSignal): AsyncGenerator<WatchReply, void> | undefined {
    return this.#active?.watch({ hello: this.#hello, ...request }, signal);
  }

  /** Calls a feed of the job; undefined while no ApplicationMaster is connected. Rejects with an ApiError. */
  askFeed(request: Omit<FeedRequest, "hello">, timeoutMs: number, gone: AbortSignal): Promise<FeedReply> | undefined {
    return this.#active?.askFeed({ hello: this.#hello, ...request }, timeoutMs, gone);
  }

  /** How other tasks ended; undefined while no ApplicationMaster is connected. Rejects with an ApiError. */
  awaitEnds(request: Omit<EndsRequest, "hello">, timeoutMs: number, gone: AbortSignal): Promise<EndsReply> | undefined {
    return this.#active?.awaitEnds({ hello: this.#hello, ...request }, timeoutMs, gone);
  }

  /** Answers an attempt that calls with its address. */
  rejoin(master: MasterAddress): RejoinReply {
    this.#answer = ENDING;
    this.#post({ type: "called", master });
    return this.#answer;
  }

  /** Resolves when an ApplicationMaster is connected, and was told what it may not know. */
  async connected(): Promise<void> {
    if (this.#active === undefined) await new Promise<void>((resolve) => this.#awaiting.push(resolve));
  }

  /** Sends a goodbye and waits until it is sent: one, however often it is called. */
  close(reason: string): Promise<void> {
    this.#closed ??= this.#sayGoodbye(reason);
    return this.#closed;
  }

  async #sayGoodbye(reason: string): Promise<void> {
    this.#post({ type: "closing" });
    this.report(this.#options.generation(), { type: "goodbye", reason });
    const active = this.#active;
    await active?.finish();
    active?.close();
  }

  get #active(): MasterStream | undefined {
    const { active } = this.#core.state.link;
    return active && this.#streams.get(active.id);
  }

  get #hello(): Hello {
    return { protocol: PROTOCOL_VERSION, build: this.#options.build };
  }

  /** Handles one event at a time: events caused by an effect wait until all effects of its event are carried out. */
  #post(event: Event): void {
    this.#inbox.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#inbox.shift(); next !== undefined; next = this.#inbox.shift()) this.#decide(next);
    } finally {
      this.#isBusy = false;
    }
    this.#setTimer();
  }

  #decide(event: Event): void {
    const { monotonicMs, random } = this.#options;
    for (const effect of this.#core.step(event, { nowMs: monotonicMs(), random: random() })) this.#do(effect);
  }

  #setTimer(): void {
    const { wakeAtMs } = this.#core;
    if (wakeAtMs === undefined) this.#timer.clear();
    else this.#timer.set(wakeAtMs - this.#options.monotonicMs(), () => this.#post({ type: "woken" }));
  }

  #do(effect: Effect): void {
    const { log, joined, left, command, refused, replaced, gate, orphaned } = this.#options;
    switch (effect.type) {
      case "connect":
        this.#connect(effect.connection, effect.target.address);
        break;
      case "register":
        this.#sendRegistration(this.#streams.get(effect.connection));
        break;
      case "close":
        this.#close(effect.connection);
        break;
      case "joined":
        if (effect.message.body.type === "welcome") this.#attemptProof = effect.message.body.attemptProof;
        if (effect.message.body.type === "welcome") joined(effect.message.body);
        for (const heard of this.#awaiting.splice(0)) heard();
        break;
      case "look":
        void this.#look(effect.absence);
        break;
      case "answer":
        this.#answer = effect.reply;
        break;
      case "log":
        log[effect.level](effect.event, effect.message, effect.fields);
        break;
      case "left":
        left();
        break;
      case "obey":
        command(effect.message);
        break;
      case "refused":
        refused(effect.reason);
        break;
      case "replaced":
        replaced();
        break;
      case "hold-uploads":
        gate.close(effect.why);
        break;
      case "allow-uploads":
        gate.open();
        break;
      case "suspend":
      case "resume":
        this.#options[effect.type](effect.generation);
        break;
      case "orphaned":
        orphaned(effect.silentMs);
        break;
    }
  }

  #connect(connection: number, address: string): void {
    const { identity, generation } = this.#options;
    const stream = new MasterStream({
      identity,
      address,
      onMessage: (message) => this.#post({ type: "message", connection, message, generation: generation() }),
      onEnd: (error) => this.#ended(connection, error?.message ?? "the stream ended"),
    });
    this.#streams.set(connection, stream);
  }

  #ended(connection: number, cause: string): void {
    this.#streams.delete(connection);
    this.#post({ type: "ended", connection, cause });
  }

  #sendRegistration(stream: MasterStream | undefined): void {
    const registration = this.#options.registration();
    if (registration === undefined) return;
    const { generation, ...own } = registration;
    const body = { type: "register", hello: this.#hello, ...own, attemptProof: this.#attemptProof } as const;
    stream?.send({ attempt: this.master.attempt, generation, body });
  }

  #close(connection: number): void {
    this.#streams.get(connection)?.close();
    this.#streams.delete(connection);
  }

  async #look(absence: number): Promise<void> {
    this.#post({ type: "looked", absence, news: await this.#options.lookIntoStaging() });
  }
}
