import { formatHostPort, type HostPort } from "../conf/values.ts";
import { CodedError, errorMessage } from "../errors.ts";
import { AuthenticationError } from "../security/errors.ts";
import type { AuthenticationStrategy } from "../security/sasl/mechanism.ts";
import type { User } from "../security/user.ts";
import { RpcConnectionError, RpcProtocolError, RpcTimeoutError } from "./errors.ts";
import { defaultMaxFrameBytes } from "./frame.ts";
import {
  callFrame,
  connectionHeader,
  contextFrame,
  decodeReply,
  decodeSasl,
  type Reply,
  RpcErrorCode,
  RpcStatus,
  type SaslMessage,
  SaslState,
  saslCallId,
  saslFrame,
} from "./messages.ts";
import { RemoteError } from "./remote-error.ts";
import { Inbox } from "./sasl/inbox.ts";
import { kerberosNeeded, negotiate, refusedForKerberos } from "./sasl/negotiation.ts";
import { RpcTransport } from "./transport.ts";

/** Hadoop's call ids are signed 32-bit numbers; those below 0 are reserved for the protocol (org.apache.hadoop.ipc.RpcConstants). */
const largestCallId = 2 ** 31 - 1;

/** Numbers the calls of one connection. */
export class CallIds {
  #last: number;

  /** @param last the number before the first one to be assigned */
  constructor(last = 0) {
    this.#last = last;
  }

  /** The next number that no outstanding call has; after the largest, numbering restarts at 0. */
  next(isOut: (callId: number) => boolean): number {
    do {
      this.#last = this.#last === largestCallId ? 0 : this.#last + 1;
    } while (isOut(this.#last));
    return this.#last;
  }
}

export interface ConnectionOptions {
  readonly endpoint: HostPort;
  /** The Java interface that the server offers on this port. */
  readonly protocol: string;
  /** Our identities and how to prove them; the server's order of preference chooses among several. */
  readonly strategies: () => Promise<readonly AuthenticationStrategy[]>;
  /** 16 bytes that name this client to the server. */
  readonly clientId: Uint8Array;
  /** For connecting, `strategies` and the negotiation together. */
  readonly connectTimeoutMs: number;
  readonly maxFrameBytes?: number | undefined;
}

/** No negotiation needs more, and nobody has authenticated by then. */
export const negotiationMaxFrameBytes = 64 * 1024;

/**
 * - opening: the socket connects, then SASL messages are exchanged; calls wait.
 * - open: calls are written as they arrive.
 * - closed: permanently; every call fails with the cause of the closing.
 */
type State = "opening" | "open" | "closed";

interface PendingCall {
  readonly method: string;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (body: Uint8Array) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * One connection of Hadoop IPC version 9 with any number of calls in flight. Replies are matched to calls by id, in any order; a reply that
 * nobody waits for is dropped. It connects at once and never reconnects: RpcClient creates another one.
 */
export class RpcConnection {
  readonly #options: ConnectionOptions;
  readonly #where: string;
  readonly #transport: RpcTransport;
  readonly #saslInbox = new Inbox<SaslMessage>();
  readonly #openTimer: NodeJS.Timeout;
  readonly #calls = new Map<number, PendingCall>();
  #state: State = "opening";
  /**
   * Header and context, held back until the first call: a server that refuses closes at once, and a call written after that would see a
   * broken pipe instead of the reason.
   */
  #preamble: Buffer[] = [];
  #waitingFrames: Buffer[] = [];
  readonly #callIds = new CallIds();
  #saslEnded = false;
  #protected = false;
  #closedBy: CodedError | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#where = formatHostPort(options.endpoint);
    this.#transport = new RpcTransport({
      endpoint: options.endpoint,
      maxFrameBytes: options.maxFrameBytes ?? defaultMaxFrameBytes,
      onConnect: () => void this.#open(),
      onFrame: (frame, unwrapped) => this.#receive(decodeReply(frame), unwrapped),
      onEnd: (cause) => this.#ended(cause),
    });
    this.#openTimer = setTimeout(() => {
      this.#transport.end(this.#connectionError(`no connection within ${options.connectTimeoutMs} ms`));
    }, options.connectTimeoutMs);
  }

  get closed(): boolean {
    return this.#state === "closed";
  }

  /** The number of calls whose answer is outstanding. */
  get inFlight(): number {
    return this.#calls.size;
  }

  /**
   * Sends a call and returns the bytes of its answer. `request` is varint-delimited.
   * Rejects with RpcConnectionError, RpcTimeoutError, RpcProtocolError, AuthenticationError, or RemoteError.
   */
  call(method: string, request: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (this.#closedBy !== undefined) {
        reject(this.#closedBy);
        return;
      }
      const callId = this.#callIds.next((id) => this.#calls.has(id));
      const timer = setTimeout(() => {
        this.#take(callId)?.reject(
          new RpcTimeoutError(`${method} at ${this.#where}: no answer within ${timeoutMs} ms`),
        );
      }, timeoutMs);
      this.#calls.set(callId, { method, timer, resolve, reject });
      const { clientId, protocol } = this.#options;
      this.#send(callFrame({ callId, clientId, protocol, method, request }));
    });
  }

  /**
   * Closes the connection. Calls in flight fail permanently (`RPC_CLOSED`), or as if the server had gone, so that they are retried
   * elsewhere.
   */
  close(code: "RPC_CLOSED" | "RPC_CONNECTION_LOST" = "RPC_CLOSED"): void {
    this.#transport.end(new RpcConnectionError(`The connection to ${this.#where} was closed here`, { code }));
  }

  async #open(): Promise<void> {
    const { protocol, clientId } = this.#options;
    try {
      const strategies = await this.#options.strategies();
      const named = onlyName(strategies);
      this.#preamble =
        named === undefined
          ? [contextFrame(protocol, await this.#negotiated(strategies), clientId)]
          : [connectionHeader("none"), contextFrame(protocol, named, clientId)];
    } catch (cause) {
      this.#transport.end(cause);
    }
    if (this.#state !== "opening") return;
    clearTimeout(this.#openTimer);
    this.#state = "open";
    for (const frame of this.#waitingFrames.splice(0)) this.#send(frame);
  }

  /** Completes authentication; returns the user for the context. */
  async #negotiated(strategies: readonly AuthenticationStrategy[]): Promise<User | undefined> {
    this.#transport.send(connectionHeader("sasl"));
    const channel = {
      send: (message: SaslMessage) => this.#transport.send(saslFrame(message)),
      receive: () => this.#saslInbox.receive(),
    };
    this.#transport.limitFrames(negotiationMaxFrameBytes);
    const { user, layer } = await negotiate(channel, strategies);
    this.#transport.limitFrames(this.#options.maxFrameBytes ?? defaultMaxFrameBytes);
    if (layer !== undefined) {
      this.#protected = true;
      this.#transport.protect(layer);
    }
    return user;
  }

  #send(frame: Buffer): void {
    if (this.#state === "opening") {
      this.#waitingFrames.push(frame);
      return;
    }
    for (const part of this.#preamble.splice(0)) this.#transport.send(part);
    this.#transport.send(frame);
  }

  /**
   * Receives a frame from the server, bare or unwrapped. Once a layer is agreed, a bare frame could come from anybody, and a failure least
   * of all may be believed (org.apache.hadoop.security.SaslRpcClient.WrappedInputStream#readNextRpcPacket).
   */
  #receive(reply: Reply, unwrapped: boolean): void {
    const { header, callId, body } = reply;
    const failure = header.status === RpcStatus.SUCCESS ? undefined : remoteError(reply);
    if (!unwrapped && callId === saslCallId && failure === undefined) {
      this.#receiveSasl(decodeSasl(body));
    } else if (!unwrapped && this.#mustBeWrapped) {
      throw new RpcProtocolError("The server sent a frame without the protection that was agreed");
    } else if (failure !== undefined && (header.status === RpcStatus.FATAL || callId < 0)) {
      // The negotiation may be able to interpret it, and then ends the connection with that error.
      if (!this.#saslInbox.fail(failure)) this.#transport.end(failure);
    } else {
      const call = this.#take(callId);
      if (failure === undefined) call?.resolve(body);
      else call?.reject(failure);
    }
  }

  /**
   * True from the end of the negotiation. No server has anything to send before our first call, which we make only after checking the
   * result.
   */
  get #mustBeWrapped(): boolean {
    return this.#protected || (this.#saslEnded && this.#state === "opening");
  }

  #receiveSasl(message: SaslMessage): void {
    if (message.state === SaslState.WRAP) {
      this.#transport.receiveWrapped(message.token ?? new Uint8Array(0));
      return;
    }
    if (this.#saslEnded) throw new RpcProtocolError("The server sent a SASL message after the negotiation's end");
    this.#saslEnded = message.state === SaslState.SUCCESS;
    this.#saslInbox.put(message);
  }

  /** The only place that removes a call from the table. */
  #take(callId: number): PendingCall | undefined {
    const call = this.#calls.get(callId);
    if (call === undefined) return undefined;
    this.#calls.delete(callId);
    clearTimeout(call.timer);
    return call;
  }

  #ended(cause: unknown): void {
    const error = cause instanceof CodedError ? this.#located(cause) : this.#connectionError(reasonOf(cause), cause);
    this.#state = "closed";
    this.#closedBy = error;
    clearTimeout(this.#openTimer);
    this.#saslInbox.fail(error);
    for (const callId of [...this.#calls.keys()]) this.#take(callId)?.reject(error);
  }

  /** Adds the server's address to errors that were created without it; the server's own errors stay as they are. */
  #located(error: CodedError): CodedError {
    if (error instanceof RpcProtocolError) return new RpcProtocolError(`${this.#where}: ${error.message}`, error);
    if (!(error instanceof AuthenticationError)) return error;
    return new AuthenticationError(`${this.#where}: ${error.message}`, { code: error.code, cause: error });
  }

  #connectionError(reason: string, cause?: unknown): RpcConnectionError {
    return this.#state === "open"
      ? new RpcConnectionError(`Connection to ${this.#where} lost: ${reason}`, { code: "RPC_CONNECTION_LOST", cause })
      : new RpcConnectionError(`Cannot connect to ${this.#where}: ${reason}`, { code: "RPC_CONNECT_FAILED", cause });
  }
}

/** The user, if all we can do is name it: nothing is negotiated then. */
function onlyName([first, ...others]: readonly AuthenticationStrategy[]): User | undefined {
  return first?.method === "SIMPLE" && others.length === 0 ? first.user : undefined;
}

function reasonOf(cause: unknown): string {
  return cause === undefined ? "the server closed the connection" : errorMessage(cause);
}

function remoteError({ header }: Reply): CodedError {
  const unauthorized = header.errorDetail === RpcErrorCode.FATAL_UNAUTHORIZED;
  const error = new RemoteError(header.exceptionClassName, header.errorMsg, { unauthorized });
  return refusedForKerberos(error) ? kerberosNeeded() : error;
}
