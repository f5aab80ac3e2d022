import type { ClientDuplexStream } from "@grpc/grpc-js";
import type { StoreAnswer } from "../job/store/transaction.ts";
import { Channel } from "./channel.ts";
import { executorService } from "./definition.ts";
import type { ApiError } from "./errors.ts";
import { type ExecutorIdentity, masterServerName } from "./identity.ts";
import type {
  EndsReply,
  EndsRequest,
  ExecutorMessage,
  FeedReply,
  FeedRequest,
  MasterMessage,
  TaskTransaction,
  WatchReply,
  WatchRequest,
} from "./messages.ts";
import { readStream } from "./read-stream.ts";
import { type CallingSession, type ServedSession, SessionStream } from "./session-stream.ts";
import { StreamWriter } from "./stream-writer.ts";
import { Transactions } from "./transactions.ts";

/** When more messages than this are queued, the ApplicationMaster is not reading: the stream is closed. */
const WRITER_LIMIT = 1_000;

export interface MasterStreamOptions {
  readonly identity: ExecutorIdentity;
  /** `host:port` of the ApplicationMaster. */
  readonly address: string;
  readonly onMessage: (message: MasterMessage) => void;
  /** Called once, when the stream has ended for whatever reason; without an error if the AM ended it cleanly. */
  readonly onEnd: (error?: ApiError) => void;
}

/** One stream from an executor to the ApplicationMaster. */
export class MasterStream {
  readonly #channel: Channel;
  readonly #stream: ClientDuplexStream<ExecutorMessage, MasterMessage>;
  readonly #writer: StreamWriter<ExecutorMessage>;
  readonly #onEnd: (error?: ApiError) => void;
  readonly #transactions: Transactions;
  #ended = false;

  constructor({ identity, address, onMessage, onEnd }: MasterStreamOptions) {
    this.#onEnd = onEnd;
    this.#channel = new Channel({
      address,
      serverName: masterServerName(identity.applicationId),
      caller: identity.caller,
    });
    this.#stream = this.#channel.openBidirectional(executorService.link);
    this.#transactions = new Transactions(
      () => this.#channel.openBidirectional(executorService.transact),
      (error) => this.#channel.toError(error),
    );
    this.#writer = new StreamWriter(this.#stream, { limit: WRITER_LIMIT, onOverflow: () => this.#stream.cancel() });
    this.#stream.on("data", (message: MasterMessage) => {
      if (!this.#ended) onMessage(message);
    });
    this.#stream.on("error", (error) => this.#end(this.#channel.toError(error)));
    this.#stream.on("end", () => this.#end());
  }

  send(message: ExecutorMessage, replaces?: string): void {
    this.#writer.send(message, replaces);
  }

  /** How many messages are queued. */
  get waiting(): number {
    return this.#writer.waiting;
  }

  /** Serves a session over the same connection. */
  serveSession(): ServedSession {
    const stream = this.#channel.openBidirectional(executorService.serveSession);
    return new SessionStream(stream, (error) => this.#channel.toError(error));
  }

  /** Opens a session with another task of the job; the first message says which (OpenSession). */
  openSession(): CallingSession {
    const stream = this.#channel.openBidirectional(executorService.openSession);
    return new SessionStream(stream, (error) => this.#channel.toError(error));
  }

  /** Sends a transaction to the job's key-value store, over the same connection. Rejects with an ApiError. */
  transact(wanted: Omit<TaskTransaction, "id">, timeoutMs: number): Promise<StoreAnswer> {
    return this.#transactions.transact(wanted, timeoutMs);
  }

  /** Changes in the store, until a final message or until the signal aborts. */
  watch(request: WatchRequest, signal: AbortSignal): AsyncGenerator<WatchReply, void> {
    const open = () => this.#channel.openServerStream(executorService.watch, request);
    return readStream(open, (error) => this.#channel.toError(error), signal);
  }

  /** Sends a request to a feed of the job. Rejects with an ApiError, also when the signal aborts. */
  askFeed(request: FeedRequest, timeoutMs: number, gone: AbortSignal): Promise<FeedReply> {
    return this.#channel.call(executorService.askFeed, request, timeoutMs, gone);
  }

  /** How other tasks ended. Rejects with an ApiError, also when the signal aborts. */
  awaitEnds(request: EndsRequest, timeoutMs: number, gone: AbortSignal): Promise<EndsReply> {
    return this.#channel.call(executorService.awaitEnds, request, timeoutMs, gone);
  }

  /** Ends the stream cleanly: resolves when everything has been sent. `onEnd` is not called. */
  async finish(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    const over = new Promise<void>((resolve) => {
      this.#stream.once("end", resolve);
      this.#stream.once("error", () => resolve());
    });
    await this.#writer.drained();
    this.#stream.end();
    await over;
    this.close();
  }

  /** Closes the stream at once; `onEnd` is not called. */
  close(): void {
    this.#ended = true;
    this.#writer.close();
    this.#transactions.close();
    this.#stream.cancel();
    this.#channel.close();
  }

  #end(error?: ApiError): void {
    if (this.#ended) return;
    this.close();
    this.#onEnd(error);
  }
}
