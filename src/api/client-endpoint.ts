import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from "@grpc/grpc-js";
import { errorMessage } from "../hadoop/errors.ts";
import type { ApplicationRight } from "../job/access-list.ts";
import type { StoreAnswer } from "../job/store/transaction.ts";
import { callerName } from "./authentication.ts";
import type { SecretOf } from "./caller.ts";
import { CALLS_OF_TASK } from "./caller-calls.ts";
import { CallerSession, type CallerStream, openedBy, type SessionHandler } from "./caller-session.ts";
import {
  type FollowMessage,
  type FollowRequest,
  type Hello,
  type LogChunk,
  type LogWanted,
  type PageReply,
  type PageRequest,
  PROTOCOL_VERSION,
  type ReadLogRequest,
  type StopReply,
  type StopRequest,
  type StoreReply,
  type StoreRequest,
  type TaskTransaction,
} from "./messages.ts";
import { endWithError } from "./server.ts";
import { StreamWriter } from "./stream-writer.ts";
import { serveWatch, type WatchHandler, type WatchStream } from "./watch-stream.ts";

/** A client that waits for the outcome. A slow client misses intermediate statuses, but never the newest one or the outcome. */
export interface Follower {
  /** See jobStatus of status-codec.ts. */
  status(status: Uint8Array): void;
  /** See jobOutcome of status-codec.ts; ends the stream. */
  outcome(outcome: Uint8Array): void;
}

/** A client that reads a log. */
export interface LogReader {
  /** Resolves when the client has received the chunk; only then is the next one sent. A chunk with `end` ends the stream. */
  send(chunk: LogChunk): Promise<void>;
  /** Ends the stream with an error. */
  fail(reason: string): void;
}

/** The requests of `tony-ts` to the ApplicationMaster. The functions that they return are called once, when the client has disconnected. */
export interface ClientHandler extends WatchHandler {
  follow(follower: Follower): () => void;
  readLog(request: LogWanted, reader: LogReader): () => void;
  /** Whether the job will be stopped. @param user who requests it */
  stop(reason: string, user: string): boolean;
  /**
   * Answers a request of the job's page, as JSON. Rejects where the page is off.
   * @param path below `api/v1/`, with its query
   */
  askPage(path: string): Promise<string>;
  /** Rejects where the store cannot be read at present. @param task the task that asks; absent: a caller who may use all of the store */
  transact(wanted: TransactionWanted, task?: string): Promise<StoreAnswer>;
}

/** @property owner as people name it; @property generation of the task that asks, which becomes the owner */
export type TransactionWanted = Pick<StoreRequest, "transaction" | "durable" | "owner"> &
  Partial<Pick<TaskTransaction, "generation">>;

/** Who may call ClientService, and what each caller may do. */
export interface ClientDoor {
  secretOf(caller: string): ReturnType<SecretOf>;
  /** Why that caller may not do it; undefined: it may. */
  refusal(caller: string, right: ApplicationRight): Promise<string | undefined>;
  /** The caller's user. */
  userOf(caller: string): string;
}

export interface ClientEndpointOptions {
  readonly attempt: number;
  readonly build: string;
  readonly door: ClientDoor;
  readonly handler: ClientHandler;
  readonly sessions: Pick<SessionHandler, "open">;
}

export const WRITER_LIMIT = 64;
/** More readers would fill the connection to the task's executor. */
const MOST_READERS = CALLS_OF_TASK;

/** The AM's side of ClientService, for callers that may call the method (see rightByPath). */
export class ClientEndpoint {
  readonly #options: ClientEndpointOptions;
  /** How many readers of its logs there are, by caller and task. */
  readonly #readers = new Map<string, number>();

  constructor(options: ClientEndpointOptions) {
    this.#options = options;
  }

  follow(stream: ServerWritableStream<FollowRequest, FollowMessage>): void {
    const writer = this.#admit(stream, stream.request.hello);
    if (writer === undefined) return;
    const { attempt, handler } = this.#options;
    const stop = handler.follow({
      status: (status) => writer.send({ attempt, body: { type: "status", status } }, "status"),
      outcome(outcome) {
        writer.send({ attempt, body: { type: "outcome", outcome } });
        void writer.drained().then(() => stream.end());
      },
    });
    onceGone(stream, writer, stop);
  }

  readLog(stream: ServerWritableStream<ReadLogRequest, LogChunk>): void {
    const writer = this.#admit(stream, stream.request.hello);
    if (writer === undefined) return;
    const leave = this.#enter(`${callerName(stream.metadata)} ${stream.request.task}`);
    if (leave === undefined) {
      writer.close();
      endWithError(stream, `you read this task's logs ${MOST_READERS} times already`, status.NOT_FOUND);
      return;
    }
    const stop = this.#options.handler.readLog(stream.request, {
      async send(chunk) {
        writer.send(chunk);
        await writer.drained();
        if (chunk.end) stream.end();
      },
      fail: (reason) => endWithError(stream, reason, status.NOT_FOUND),
    });
    onceGone(stream, writer, () => {
      leave();
      stop();
    });
  }

  /** @returns undefined: there are too many readers */
  #enter(reader: string): (() => void) | undefined {
    const before = this.#readers.get(reader) ?? 0;
    if (before >= MOST_READERS) return undefined;
    this.#readers.set(reader, before + 1);
    return () => {
      const left = (this.#readers.get(reader) ?? 1) - 1;
      if (left > 0) this.#readers.set(reader, left);
      else this.#readers.delete(reader);
    };
  }

  stop(call: ServerUnaryCall<StopRequest, StopReply>, reply: sendUnaryData<StopReply>): void {
    const { hello, reason } = call.request;
    const mismatch = protocolMismatch(hello, this.#options.build);
    if (mismatch !== undefined) reply({ code: status.FAILED_PRECONDITION, details: mismatch });
    else {
      const user = this.#options.door.userOf(callerName(call.metadata));
      reply(null, { accepted: this.#options.handler.stop(reason, user) });
    }
  }

  transact(call: ServerUnaryCall<StoreRequest, StoreReply>, reply: sendUnaryData<StoreReply>): void {
    this.#answer(call, reply, async () => ({ answer: await this.#options.handler.transact(call.request) }));
  }

  askPage(call: ServerUnaryCall<PageRequest, PageReply>, reply: sendUnaryData<PageReply>): void {
    this.#answer(call, reply, async () => ({ json: await this.#options.handler.askPage(call.request.path) }));
  }

  #answer<Reply>(
    { request: { hello } }: { readonly request: { readonly hello: Hello } },
    reply: sendUnaryData<Reply>,
    make: () => Promise<Reply>,
  ): void {
    const mismatch = protocolMismatch(hello, this.#options.build);
    if (mismatch !== undefined) reply({ code: status.FAILED_PRECONDITION, details: mismatch });
    else
      make().then(
        (answer) => reply(null, answer),
        (error: unknown) => reply({ code: status.ABORTED, details: errorMessage(error) }),
      );
  }

  watch(stream: WatchStream): void {
    const mismatch = protocolMismatch(stream.request.hello, this.#options.build);
    if (mismatch !== undefined) endWithError(stream, mismatch, status.FAILED_PRECONDITION);
    else serveWatch(stream, this.#options.handler);
  }

  async openSession(stream: CallerStream): Promise<void> {
    const open = await openedBy(stream);
    if (open === undefined) return;
    const mismatch = protocolMismatch(open.hello, this.#options.build);
    const user = this.#options.door.userOf(callerName(stream.metadata));
    if (mismatch !== undefined) endWithError(stream, mismatch, status.FAILED_PRECONDITION);
    else if (!stream.cancelled) this.#options.sessions.open(new CallerSession(stream, user, open));
  }

  #admit<Message>(stream: ServerWritableStream<unknown, Message>, hello: Hello) {
    const mismatch = protocolMismatch(hello, this.#options.build);
    if (mismatch !== undefined) {
      endWithError(stream, mismatch, status.FAILED_PRECONDITION);
      return undefined;
    }
    return stream.cancelled ? undefined : openWriter(stream);
  }
}

function openWriter<Message>(stream: ServerWritableStream<unknown, Message>) {
  return new StreamWriter<Message>(stream, {
    limit: WRITER_LIMIT,
    onOverflow: () => endWithError(stream, "the client does not read", status.ABORTED),
  });
}

function onceGone<Message>(
  stream: ServerWritableStream<unknown, Message>,
  writer: StreamWriter<Message>,
  stop: () => void,
): void {
  let gone = false;
  const end = () => {
    if (gone) return;
    gone = true;
    writer.close();
    stop();
  };
  stream.on("cancelled", end);
  stream.on("close", end);
  stream.on("finish", end);
  stream.on("error", end);
}

/** Why a peer with that protocol version is refused; undefined if it is not. */
export function protocolMismatch(hello: Hello, build: string): string | undefined {
  if (hello.protocol === PROTOCOL_VERSION) return undefined;
  return `${build} speaks protocol ${PROTOCOL_VERSION}, ${hello.build || "the caller"} speaks ${hello.protocol}: use tony-ts of the same version`;
}
