import { type ServerDuplexStream, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import { TonyError } from "../errors.ts";
import { errorMessage } from "../hadoop/errors.ts";
import type { ExecutorRegistration } from "../job/execution.ts";
import { callerName } from "./authentication.ts";
import { bounded, boundedCall, boundedRegistration, shortened, unbelievable } from "./believable.ts";
import {
  acceptedBy,
  CallerSession,
  type CallerStream,
  openedBy,
  type ServingStream,
  type SessionHandler,
} from "./caller-session.ts";
import type { ClientHandler } from "./client-endpoint.ts";
import { judgeExecutorMessage } from "./fence.ts";
import { type ApplicationIdentity, attemptProof, isAttemptProof } from "./identity.ts";
import {
  type EndsReply,
  type EndsRequest,
  type ExecutorMessage,
  type ExecutorReport,
  type FeedAnswered,
  type FeedCall,
  type FeedReply,
  type FeedRequest,
  type Hello,
  type MasterCommand,
  type MasterMessage,
  PROTOCOL_VERSION,
} from "./messages.ts";
import { endWithError } from "./server.ts";
import { StreamWriter } from "./stream-writer.ts";
import { serveTransactions, type TransactionStream } from "./transactions.ts";
import { serveWatch, type WatchStream } from "./watch-stream.ts";

/** When more messages than this are queued, the executor is not reading: the stream is closed. */
export const LINK_WRITER_LIMIT = 1_000;

/** One stream of one executor, after its registration. */
export interface ExecutorLink {
  readonly task: string;
  readonly containerId: string;
  /** Version and revision of the executor. */
  readonly build: string;
  send(generation: number, command: MasterCommand): void;
  /** Ends the stream; the executor opens another unless it was ordered to exit. */
  close(): void;
}

export type LinkEnd =
  /** The executor has sent its goodbye. */
  | "goodbye"
  | "broken"
  /** The same container has opened another stream. */
  | "replaced";

/** Receives everything that executors send. The calls are made one at a time, in the order of each stream. */
export interface ExecutorHandler {
  /** The first registration of a stream; the executor has been welcomed. */
  connected(link: ExecutorLink, registration: ExecutorRegistration): void;
  /** The executor is ready for a further generation. */
  registered(link: ExecutorLink, registration: ExecutorRegistration): void;
  report(
    link: ExecutorLink,
    generation: number,
    report: Exclude<ExecutorReport, { type: "register" | "unknown" }>,
  ): void;
  disconnected(link: ExecutorLink, end: LinkEnd): void;
  /** An executor already obeys a later attempt, so this ApplicationMaster must no longer act. */
  superseded(attempt: number): void;
  /** Why a registration is refused, in which case the executor is told and exits; undefined: it is accepted. */
  refusal(registration: ExecutorRegistration): string | undefined;
}

/** A request to a feed of the job, made for a task. */
export interface FeedAsked {
  readonly feed: string;
  readonly task: string;
  /** The generation of the task that asks. */
  readonly generation: number;
  readonly call: FeedCall;
  /** Aborts when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
}

/** Answers requests to the job's feeds. Rejects while no answer is possible. */
export interface FeedHandler {
  ask(asked: FeedAsked): Promise<FeedAnswered>;
}

/** A query about how other tasks ended, made for a task. */
export interface EndsAsked {
  readonly task: string;
  readonly roles: readonly string[];
  /** Aborts when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
}

/** Answers when those tasks have ended. */
export interface EndsHandler {
  await(asked: EndsAsked): Promise<EndsReply>;
}

export interface ExecutorEndpointOptions {
  readonly identity: ApplicationIdentity;
  readonly attempt: number;
  readonly build: string;
  readonly heartbeatIntervalMs: number;
  /** JSON of ExecutorJob. */
  readonly job: Uint8Array;
  readonly handler: ExecutorHandler;
  readonly sessions: SessionHandler;
  readonly store: Pick<ClientHandler, "transact" | "watch">;
  readonly feeds: FeedHandler;
  readonly ends: EndsHandler;
}

const NO_PART = "the container is not part of the job";

/** Something that an executor has opened beside its stream. */
interface Opened {
  readonly containerId: string;
  /** The container's task at that time. */
  readonly task: string;
  readonly end: () => void;
}

type Register = Extract<ExecutorReport, { type: "register" }>;
type Stream = ServerDuplexStream<ExecutorMessage, MasterMessage>;

/**
 * The AM's side of ExecutorService: admits streams, keeps one per container and turns their messages into calls of the handler. An executor
 * can act only for the container whose secret opened the stream.
 */
export class ExecutorEndpoint {
  readonly #options: ExecutorEndpointOptions;
  readonly #attemptProof: Uint8Array;
  readonly #links = new Map<string, Link>();
  readonly #opened = new Set<Opened>();
  /** One stream carries all transactions of a container, so at most one answer at a time waits to be read. */
  readonly #transacting = new Map<string, TransactionStream>();

  constructor(options: ExecutorEndpointOptions) {
    this.#options = options;
    this.#attemptProof = attemptProof(options.identity, options.attempt);
  }

  /** Serves one new stream. */
  accept(stream: Stream): void {
    const link = new Link(stream, callerName(stream.metadata), this.#options.attempt);
    stream.on("data", (message: ExecutorMessage) => this.#receive(link, message));
    stream.on("end", () => this.#ended(link));
    stream.on("cancelled", () => this.#ended(link));
    stream.on("error", () => this.#ended(link));
  }

  /** Opens a session with another task. The container's own identity, which belongs to the job, authorizes it. */
  async openSession(stream: CallerStream): Promise<void> {
    const { sessions } = this.#options;
    const open = await openedBy(stream);
    if (open === undefined) return;
    const containerId = callerName(stream.metadata);
    const task = sessions.taskIn(containerId);
    if (task === undefined) {
      endWithError(stream, NO_PART, status.PERMISSION_DENIED);
      return;
    }
    const session = new CallerSession(stream, task, open);
    this.#keep(stream, { containerId, task, end: () => session.fail(`${NO_PART} any more`) });
    sessions.open(session);
  }

  /** For the container's task, which may not use anything that belongs to another task. */
  transact(stream: TransactionStream): void {
    const { sessions, store } = this.#options;
    const containerId = callerName(stream.metadata);
    const before = this.#transacting.get(containerId);
    this.#transacting.set(containerId, stream);
    if (before !== undefined) endWithError(before, "another stream has this container's transactions", status.ABORTED);
    onceOver(stream, () => {
      if (this.#transacting.get(containerId) === stream) this.#transacting.delete(containerId);
    });
    serveTransactions(stream, async (wanted) => {
      const task = sessions.taskIn(containerId);
      if (task === undefined) throw new TonyError(NO_PART, { code: "NO_TASK" });
      return await store.transact(wanted, task);
    });
  }

  askFeed(call: ServerUnaryCall<FeedRequest, FeedReply>, reply: sendUnaryData<FeedReply>): void {
    const { feed, generation, body } = call.request;
    if (body.type === "unknown") reply({ code: status.UNIMPLEMENTED, details: "the call is not known here" });
    else {
      const asked = { feed: shortened(feed), generation, call: boundedCall(body) };
      this.#answer(call, reply, (caller) => this.#options.feeds.ask({ ...asked, ...caller }));
    }
  }

  awaitEnds(call: ServerUnaryCall<EndsRequest, EndsReply>, reply: sendUnaryData<EndsReply>): void {
    const { roles } = call.request;
    this.#answer(call, reply, (caller) => this.#options.ends.await({ roles, ...caller }));
  }

  /** The call may wait for what other tasks do. */
  #answer<Request, Reply>(
    call: ServerUnaryCall<Request, Reply>,
    reply: sendUnaryData<Reply>,
    ask: (caller: { readonly task: string; readonly gone: AbortSignal }) => Promise<Reply>,
  ): void {
    const task = this.#options.sessions.taskIn(callerName(call.metadata));
    const gone = new AbortController();
    call.once("cancelled", () => gone.abort());
    if (task === undefined) reply({ code: status.PERMISSION_DENIED, details: NO_PART });
    else
      ask({ task, gone: gone.signal }).then(
        (answer) => reply(null, answer),
        (error: unknown) => reply({ code: status.ABORTED, details: errorMessage(error) }),
      );
  }

  watch(stream: WatchStream): void {
    const { sessions, store } = this.#options;
    const containerId = callerName(stream.metadata);
    const task = sessions.taskIn(containerId);
    if (task === undefined) {
      endWithError(stream, NO_PART, status.PERMISSION_DENIED);
      return;
    }
    const end = () => endWithError(stream, `${NO_PART} any more`, status.PERMISSION_DENIED);
    this.#keep(stream, { containerId, task, end });
    serveWatch(stream, store, task);
  }

  /** Containers may have gone or now run another task; whatever they had opened is then closed. */
  look(): void {
    const { sessions } = this.#options;
    for (const { containerId, task, end } of this.#opened) if (sessions.tenantOf(containerId) !== task) end();
  }

  #keep(stream: CallerStream | WatchStream, opened: Opened): void {
    this.#opened.add(opened);
    onceOver(stream, () => this.#opened.delete(opened));
  }

  async serveSession(stream: ServingStream): Promise<void> {
    const sessionId = await acceptedBy(stream);
    if (sessionId === undefined) return;
    const session = this.#options.sessions.accepted(callerName(stream.metadata), sessionId);
    if (session === undefined) endWithError(stream, `session ${sessionId} is not wanted`, status.NOT_FOUND);
    else session.join(stream);
  }

  #receive(link: Link, message: ExecutorMessage): void {
    if (link.ended) return;
    const verdict = judgeExecutorMessage(message, this.#options.attempt);
    if (verdict === "higher-attempt") this.#judgeClaim(link, message);
    else if (verdict === "current") this.#dispatch(link, message);
  }

  /** A claim that there is a later attempt is believed only with that attempt's own proof. */
  #judgeClaim(link: Link, { attempt, body }: ExecutorMessage): void {
    const { identity, handler } = this.#options;
    const given = body.type === "register" ? body.attemptProof : new Uint8Array();
    if (isAttemptProof(identity, attempt, given)) handler.superseded(attempt);
    else link.refuse(`nothing shows that there is an attempt ${attempt}`);
  }

  #dispatch(link: Link, { generation, body }: ExecutorMessage): void {
    const { handler } = this.#options;
    if (body.type === "register") {
      const registration = boundedRegistration(registrationOf(body, generation));
      const why = unbelievable(registration);
      if (!link.mayBe(registration)) link.refuse("the registration is another executor's");
      else if (why !== undefined) link.refuse(why);
      else if (link.admitted) handler.registered(link, registration);
      else this.#admit(link, body.hello, registration);
    } else if (!link.admitted) {
      link.refuse("the first message of a stream is a registration");
    } else if (body.type !== "unknown") {
      if (body.type === "goodbye") link.saidGoodbye = true;
      handler.report(link, generation, bounded(body));
    }
  }

  #admit(link: Link, hello: Hello, registration: ExecutorRegistration): void {
    const refusal = this.#refusal(hello, registration);
    if (refusal !== undefined) {
      link.refuse(refusal);
      return;
    }
    const { build, heartbeatIntervalMs, job, handler } = this.#options;
    link.admit(registration, hello.build);
    this.#replaceEarlier(link);
    const own = { protocol: PROTOCOL_VERSION, build };
    const welcome = { hello: own, heartbeatIntervalMs, job, attemptProof: this.#attemptProof };
    link.send(registration.generation, { type: "welcome", ...welcome });
    handler.connected(link, registration);
  }

  #refusal(hello: Hello, registration: ExecutorRegistration): string | undefined {
    if (hello.protocol === PROTOCOL_VERSION) return this.#options.handler.refusal(registration);
    const own = `ApplicationMaster ${this.#options.build} speaks protocol ${PROTOCOL_VERSION}`;
    return `${own}, executor ${hello.build} speaks ${hello.protocol}`;
  }

  #replaceEarlier(link: Link): void {
    const previous = this.#links.get(link.containerId);
    this.#links.set(link.containerId, link);
    if (previous === undefined) return;
    previous.close();
    this.#options.handler.disconnected(previous, "replaced");
  }

  #ended(link: Link): void {
    const wasOpen = !link.ended;
    link.abandon();
    if (this.#links.get(link.containerId) !== link) return;
    this.#links.delete(link.containerId);
    if (wasOpen) this.#options.handler.disconnected(link, link.saidGoodbye ? "goodbye" : "broken");
  }
}

function onceOver(stream: CallerStream | WatchStream | TransactionStream, over: () => void): void {
  for (const event of ["cancelled", "close", "finish", "error"] as const) stream.on(event, over);
}

class Link implements ExecutorLink {
  readonly #stream: Stream;
  readonly #writer: StreamWriter<MasterMessage>;
  readonly #attempt: number;
  readonly containerId: string;
  task = "";
  build = "";
  admitted = false;
  saidGoodbye = false;
  ended = false;

  constructor(stream: Stream, containerId: string, attempt: number) {
    this.#stream = stream;
    this.containerId = containerId;
    this.#attempt = attempt;
    this.#writer = new StreamWriter(stream, {
      limit: LINK_WRITER_LIMIT,
      onOverflow: () => endWithError(stream, "the executor does not read", status.ABORTED),
    });
  }

  /** Whether the stream's own container registers, and always for the same task. */
  mayBe({ containerId, task }: ExecutorRegistration): boolean {
    return containerId === this.containerId && (!this.admitted || task === this.task);
  }

  admit({ task }: ExecutorRegistration, build: string): void {
    this.task = task;
    this.build = build;
    this.admitted = true;
  }

  send(generation: number, body: MasterCommand): void {
    this.#writer.send({ attempt: this.#attempt, generation, body });
  }

  /** Refuses the executor permanently: it exits. */
  refuse(reason: string): void {
    this.send(0, { type: "refuse", reason, fatal: true });
    this.close();
  }

  /** Ends the stream when everything has been sent. */
  close(): void {
    if (this.ended) return;
    this.ended = true;
    void this.#writer.drained().then(() => this.#finish());
  }

  /** The stream has already ended. */
  abandon(): void {
    this.ended = true;
    this.#finish();
  }

  #finish(): void {
    this.#writer.close();
    this.#stream.end();
  }
}

/** The registration for the core; the generation is the message's. */
function registrationOf(register: Register, generation: number): ExecutorRegistration {
  const { type: _type, hello: _hello, attemptProof: _attemptProof, ...registration } = register;
  return { ...registration, generation };
}
