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

/** Hadoop's are signed 32-bit numbers of which those below 0 are kept for the protocol (org.apache.hadoop.ipc.RpcConstants). */
const largestCallId = 2 ** 31 - 1;

/** Numbers the calls of one connection. */
export class CallIds {
  #last: number;

  /** @param last the one before the first that is given */
  constructor(last = 0) {
    this.#last = last;
  }

  /** The next one that no call has whose answer is still out; after the largest it begins again at 0. */
  next(isOut: (callId: number) => boolean): number {
    do {
      this.#last = this.#last === largestCallId ? 0 : this.#last + 1;
    } while (isOut(this.#last));
    return this.#last;
  }
}

export interface ConnectionOptions {
  readonly endpoint: HostPort;
  /** The Java interface that is served at this port. */
  readonly protocol: string;
  /** Who we are and how that is shown; the server's order of preference decides among several. */
  readonly strategies: () => Promise<readonly AuthenticationStrategy[]>;
  /** 16 bytes that name this client to the server. */
  readonly clientId: Uint8Array;
  /** For the connection, `strategies` and the negotiation together. */
  readonly connectTimeoutMs: number;
  readonly maxFrameBytes?: number | undefined;
}

/** No negotiation needs more; nobody has proved anything by then. */
export const negotiationMaxFrameBytes = 64 * 1024;

/**
 * - opening: the socket connects, then SASL messages pass; calls wait.
 * - open: calls are written as they come.
 * - closed: for good; every call fails with what closed it.
 */
type State = "opening" | "open" | "closed";

interface PendingCall {
  readonly method: string;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (body: Uint8Array) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * One connection of Hadoop IPC version 9 with any number of calls in flight. Replies find their call by its id, in any order;
 * a reply that nobody waits for is dropped. It connects at once and never again: RpcClient makes another one.
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
   * Header and context, held back for the first call: a server that refuses closes at once, and a call written after that would
   * see a broken pipe instead of the reason.
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

  /** Calls whose answer is still out. */
  get inFlight(): number {
    return this.#calls.size;
  }

  /**
   * Sends a call and gives the bytes of its answer. `request` is varint-delimited.
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

  /** Ends the connection. Calls in flight fail for good (`RPC_CLOSED`), or as if the server had gone, to be tried again elsewhere. */
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

  /** Settles authentication; gives the user for the context. */
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
   * A frame from the server, bare or unwrapped. Where a layer was agreed, a bare one is nobody's word, a failure least of all
   * (org.apache.hadoop.security.SaslRpcClient.WrappedInputStream#readNextRpcPacket).
   */
  #receive(reply: Reply, unwrapped: boolean): void {
    const { header, callId, body } = reply;
    const failure = header.status === RpcStatus.SUCCESS ? undefined : remoteError(reply);
    if (!unwrapped && callId === saslCallId && failure === undefined) {
      this.#receiveSasl(decodeSasl(body));
    } else if (!unwrapped && this.#mustBeWrapped) {
      throw new RpcProtocolError("The server sent a frame without the protection that was agreed");
    } else if (failure !== undefined && (header.status === RpcStatus.FATAL || callId < 0)) {
      // Who negotiates may know what it means, and ends the connection with that.
      if (!this.#saslInbox.fail(failure)) this.#transport.end(failure);
    } else {
      const call = this.#take(callId);
      if (failure === undefined) call?.resolve(body);
      else call?.reject(failure);
    }
  }

  /** From the negotiation's end on; before our first call, which comes only after its result was looked at, no server has anything to say. */
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

  /** The one place where a call leaves the table. */
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

  /** Errors that were made without knowing the server get its address; the server's own stay as they are. */
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

/** The user, where naming him is all that can be done: nothing is negotiated then. */
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
