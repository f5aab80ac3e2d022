import type { ClientReadableStream } from "@grpc/grpc-js";
import type { StoreAnswer, Transaction } from "../job/store/transaction.ts";
import { Channel } from "./channel.ts";
import { clientService } from "./definition.ts";
import { type ClientAccess, masterServerName } from "./identity.ts";
import {
  type FollowMessage,
  type Hello,
  type LogChunk,
  type LogWanted,
  PROTOCOL_VERSION,
  type WatchReply,
  type WatchRequest,
} from "./messages.ts";
import { readStream } from "./read-stream.ts";
import type { SessionWanted } from "./session-messages.ts";
import { type CallingSession, SessionStream } from "./session-stream.ts";

export interface MasterClientOptions {
  /** `host:port` from the application report. */
  readonly address: string;
  readonly access: ClientAccess;
  /** Version and revision of this program. */
  readonly build: string;
}

/** Calls the ApplicationMaster for `tony-ts`. Every call throws an ApiError. */
export class MasterClient {
  readonly #channel: Channel;
  readonly #hello: Hello;

  constructor({ address, access, build }: MasterClientOptions) {
    const { applicationId, caller } = access;
    this.#hello = { protocol: PROTOCOL_VERSION, build };
    this.#channel = new Channel({ address, serverName: masterServerName(applicationId), caller });
  }

  /** The status now and on each change, then the outcome. Ends early, without an outcome, when the signal aborts. */
  follow(signal?: AbortSignal): AsyncGenerator<FollowMessage, void> {
    return this.#read(() => this.#channel.openServerStream(clientService.follow, { hello: this.#hello }), signal);
  }

  /** A log's chunks, in the log's order. Ends early when the signal aborts. */
  readLog(request: LogWanted, signal?: AbortSignal): AsyncGenerator<LogChunk, void> {
    const whole = { ...request, hello: this.#hello };
    return this.#read(() => this.#channel.openServerStream(clientService.readLog, whole), signal);
  }

  /** Asks the AM to stop the job cleanly. @returns whether it will */
  async stop(reason: string, timeoutMs: number): Promise<boolean> {
    const { accepted } = await this.#channel.call(clientService.stop, { hello: this.#hello, reason }, timeoutMs);
    return accepted;
  }

  /** Reads and writes the job's key-value store. @param owner a task: owned keys are deleted when its current life ends */
  async transact(transaction: Transaction, owner: string | undefined, timeoutMs: number): Promise<StoreAnswer> {
    const request = { hello: this.#hello, transaction, durable: true, ...(owner === undefined ? {} : { owner }) };
    const { answer } = await this.#channel.call(clientService.transact, request, timeoutMs);
    return answer;
  }

  /** Changes in the store, until a final message or until the signal aborts. */
  watch(request: Omit<WatchRequest, "hello">, signal?: AbortSignal): AsyncGenerator<WatchReply, void> {
    const whole = { ...request, hello: this.#hello };
    return this.#read(() => this.#channel.openServerStream(clientService.watch, whole), signal);
  }

  /** The answer to a request of the job's page, as JSON. @param path below `api/v1/` */
  async askPage(path: string, timeoutMs: number): Promise<string> {
    const { json } = await this.#channel.call(clientService.askPage, { hello: this.#hello, path }, timeoutMs);
    return json;
  }

  /** A session with a running task. */
  openSession(task: string, wanted: SessionWanted): CallingSession {
    const stream = this.#channel.openBidirectional(clientService.openSession);
    const session: CallingSession = new SessionStream(stream, (error) => this.#channel.toError(error));
    void session.send({ type: "open", hello: this.#hello, task, wanted });
    return session;
  }

  close(): void {
    this.#channel.close();
  }

  #read<Message>(open: () => ClientReadableStream<Message>, signal?: AbortSignal): AsyncGenerator<Message, void> {
    return readStream(open, (error) => this.#channel.toError(error), signal);
  }
}
