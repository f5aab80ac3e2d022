import { type ServerDuplexStream, status } from "@grpc/grpc-js";
import { endWithError } from "./server.ts";
import type {
  OpenSession,
  SessionExit,
  SessionFailure,
  SessionInput,
  SessionOutput,
  SessionWanted,
} from "./session-messages.ts";

export type CallerStream = ServerDuplexStream<SessionInput, SessionOutput>;
/** The stream of the executor that serves a session. */
export type ServingStream = ServerDuplexStream<SessionOutput, SessionInput>;

type Readable<Message> = Pick<ServerDuplexStream<Message, unknown>, "on" | "pause" | "resume">;
type Writable<Message> = Pick<ServerDuplexStream<unknown, Message>, "write" | "once">;

/** How a session ended: with its command's exit, or why it failed; a connection that was closed cleanly has neither. */
export interface SessionEnd {
  readonly exit?: SessionExit;
  readonly reason?: string;
}

/** Decides about sessions. Whoever gets this far may open one. */
export interface SessionHandler {
  open(session: CallerSession): void;
  /** The session that this container's executor was asked to serve, returned once; undefined: there is none. */
  accepted(containerId: string, sessionId: number): CallerSession | undefined;
  /** The task that the container runs now, provided that its executor is connected; undefined: none. */
  taskIn(containerId: string): string | undefined;
  /** The task that the container runs now, connected or not; undefined: the container is not part of the job. */
  tenantOf(containerId: string): string | undefined;
}

/**
 * A session on the ApplicationMaster's side: the caller's stream, later joined to the executor's. The streams' own flow control makes each
 * side wait for the other, so little is buffered here.
 */
export class CallerSession {
  /** A user, or a task of the job. */
  readonly by: string;
  readonly #stream: CallerStream;
  readonly #open: OpenSession;
  #serving: ServingStream | undefined;
  /** The content of the executor's last message. */
  #said: SessionEnd | undefined;
  #isOver = false;
  readonly #whenOver: ((end: SessionEnd) => void)[] = [];

  constructor(stream: CallerStream, by: string, open: OpenSession) {
    this.by = by;
    this.#stream = stream;
    this.#open = open;
    const gone = () => this.#over({ reason: "its caller has gone" });
    stream.on("cancelled", gone);
    stream.on("error", gone);
    stream.on("close", gone);
  }

  get task(): string {
    return this.#open.task;
  }

  get wanted(): SessionWanted {
    return this.#open.wanted;
  }

  /** Calls back when the session is over; to be registered before it is. */
  onceOver(listener: (end: SessionEnd) => void): void {
    this.#whenOver.push(listener);
  }

  /** Ends the session; the caller receives the reason. */
  fail(reason: string, more: Pick<SessionFailure, "noSuchTask"> = {}): void {
    if (this.#isOver) return;
    this.#stream.write({ type: "failed", reason, ...more });
    this.#over({ reason });
  }

  /** Connects it with the stream of the executor that serves it. */
  join(serving: ServingStream): void {
    if (this.#isOver) {
      serving.end();
      return;
    }
    this.#serving = serving;
    const lost = () => this.fail(`the executor of ${this.task} was lost`);
    // A truncated stream may look like one that has ended.
    const ended = () => (this.#said === undefined ? lost() : this.#over(this.#said));
    serving.on("cancelled", lost);
    serving.on("error", lost);
    serving.on("end", ended);
    serving.write({ type: "open", ...this.#open });
    this.#handOn(this.#stream, serving, () => undefined);
    this.#handOn(serving, this.#stream, (message) => this.#heard(message));
  }

  /** Forwards messages as fast as the other side accepts them. */
  #handOn<Message>(from: Readable<Message>, to: Writable<Message>, heard: (message: Message) => void): void {
    from.on("data", (message: Message) => {
      if (this.#isOver) return;
      heard(message);
      if (to.write(message)) return;
      from.pause();
      to.once("drain", () => from.resume());
    });
    from.resume();
  }

  #heard(message: SessionOutput): void {
    if (message.type === "exited") this.#said = { exit: message };
    if (message.type === "end") this.#said = {};
    if (message.type === "failed") this.#said = { reason: message.reason };
  }

  #over(end: SessionEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream.end();
    this.#serving?.end();
    for (const listener of this.#whenOver) listener(end);
  }
}

/** The first message of a session, which says what is wanted; undefined: it was another message, and the caller is refused. */
export async function openedBy(stream: CallerStream): Promise<OpenSession | undefined> {
  const message = await firstOf(stream);
  if (message?.type === "open" && message.wanted.type !== "unknown")
    return { hello: message.hello, task: message.task, wanted: message.wanted };
  endWithError(stream, "a session begins with what is wanted", status.INVALID_ARGUMENT);
  return undefined;
}

/** The first message of an executor, which says which session it serves; undefined: it was another message, and the executor is refused. */
export async function acceptedBy(stream: ServingStream): Promise<number | undefined> {
  const message = await firstOf(stream);
  if (message?.type === "accept") return message.sessionId;
  endWithError(stream, "a session is accepted first", status.INVALID_ARGUMENT);
  return undefined;
}

/** Later messages wait until somebody reads on. Undefined: the caller ended its side without a message. */
function firstOf<Message>(stream: ServerDuplexStream<Message, unknown>): Promise<Message | undefined> {
  return new Promise((resolve) => {
    stream.once("end", () => resolve(undefined));
    stream.once("data", (message: Message) => {
      stream.pause();
      resolve(message);
    });
  });
}
