import { randomBytes } from "node:crypto";
import { type MonotonicClock, monotonicClock } from "../clock.ts";
import { formatHostPort, type HostPort } from "../conf/values.ts";
import { errorMessage } from "../errors.ts";
import type { CredentialsProvider, RpcService } from "../security/credentials-provider.ts";
import { AuthenticationError, authenticationFailure } from "../security/errors.ts";
import type { AuthenticationStrategy } from "../security/sasl/mechanism.ts";
import type { Token } from "../security/token.ts";
import { RpcConnection } from "./connection.ts";
import { RpcConnectionError, RpcTimeoutError } from "./errors.ts";
import { RemoteError } from "./remote-error.ts";
import { decideRetry, interactiveRetry, type RetryPolicy } from "./retry.ts";

/** The servers of one service, one of which is active: calls use the current one until it turns out not to be active. */
export class EndpointList {
  readonly #endpoints: readonly HostPort[];
  #current = 0;

  /** At least one endpoint. */
  constructor(endpoints: readonly HostPort[]) {
    this.#endpoints = endpoints;
  }

  get size(): number {
    return this.#endpoints.length;
  }

  /** Throws RangeError when the list is empty. */
  get current(): HostPort {
    const endpoint = this.#endpoints[this.#current];
    if (endpoint === undefined) throw new RangeError("A service needs at least one endpoint");
    return endpoint;
  }

  /** Moves to the next one, unless somebody has already left `failed`. */
  leave(failed: HostPort): void {
    if (failed === this.current) this.#current = (this.#current + 1) % this.#endpoints.length;
  }

  toString(): string {
    return this.#endpoints.map(formatHostPort).join(", ");
  }
}

/** Which service, as whom, and with which timeouts and retries. */
export interface RpcClientOptions {
  /** At least one; several for a service with a standby. */
  readonly endpoints: readonly HostPort[];
  /** The Java interface of the service. */
  readonly protocol: string;
  /** Asked for our identity at each new connection; see simpleCredentials. */
  readonly credentials: CredentialsProvider;
  /** The token that YARN issued for this service, if any: asked for at each new connection, because tokens are renewed. */
  readonly token?: (() => Token) | undefined;
  /** Default 10 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** For the first try of a call; a try that follows a timeout has twice as long, up to 60 s. Default 60 s. */
  readonly callTimeoutMs?: number | undefined;
  /** A function if the policy may change: it is called before each try. */
  readonly retry?: RetryPolicy | (() => RetryPolicy) | undefined;
  /**
   * Called when no endpoint has answered a call and all are to be tried again, and with undefined when one has answered after that. A
   * standby that is asked before the active one does not count as trouble.
   */
  readonly onTrouble?: ((trouble: CallTrouble | undefined) => void) | undefined;
  readonly maxFrameBytes?: number | undefined;
  readonly clock?: MonotonicClock | undefined;
}

/** Options of one call that differ from the client's. */
export interface CallOptions {
  readonly timeoutMs?: number | undefined;
  readonly retry?: RetryPolicy | undefined;
  /** Whether the call may be sent again when its answer is lost. Default true: YARN's calls may. */
  readonly repeatable?: boolean | undefined;
  /** Cancels the waiting between tries. */
  readonly signal?: AbortSignal | undefined;
}

/** A call that has had no answer yet and will be tried again. */
export interface CallTrouble {
  readonly method: string;
  /** Why the last try failed. */
  readonly error: unknown;
  /** Since the first try. */
  readonly elapsedMs: number;
}

const defaultConnectTimeoutMs = 10_000;
const defaultCallTimeoutMs = 60_000;
const mostCallTimeoutMs = 60_000;
const clientIdBytes = 16;

/** Makes calls to one service: keeps a connection to the active endpoint, and finds another endpoint when it is no longer active. */
export class RpcClient {
  readonly #options: RpcClientOptions;
  readonly #endpoints: EndpointList;
  readonly #clock: MonotonicClock;
  readonly #clientId = randomBytes(clientIdBytes);
  readonly #closing = new AbortController();
  #connection: RpcConnection | undefined;

  constructor(options: RpcClientOptions) {
    this.#options = options;
    this.#endpoints = new EndpointList(options.endpoints);
    this.#clock = options.clock ?? monotonicClock;
  }

  /** The endpoint that answered last, or is tried next. */
  get endpoint(): HostPort {
    return this.#endpoints.current;
  }

  /** The number of calls whose answer is outstanding. */
  get inFlight(): number {
    return this.#connection?.inFlight ?? 0;
  }

  /**
   * Makes a call with varint-delimited bytes and returns the bytes of the answer. Retries as the policy says; the caller gets the error of
   * the last try.
   */
  async call(method: string, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const startedMs = this.#clock.nowMs();
    let renewed = false;
    let troubled = false;
    let timeoutMs = options.timeoutMs ?? this.#options.callTimeoutMs ?? defaultCallTimeoutMs;
    for (let tries = 1; ; tries += 1) {
      const endpoint = this.#endpoints.current;
      try {
        const answer = await this.#connect(endpoint).call(method, request, timeoutMs);
        if (troubled) this.#options.onTrouble?.(undefined);
        return answer;
      } catch (error) {
        if (!renewed && isRefusal(error) && (await this.#renewed(endpoint, error))) {
          renewed = true;
          continue;
        }
        const failed = {
          error,
          tries,
          elapsedMs: this.#clock.nowMs() - startedMs,
          endpointCount: this.#endpoints.size,
          repeatable: options.repeatable ?? true,
        };
        const decision = decideRetry(failed, options.retry ?? this.#retry, this.#clock.random());
        if (decision.kind === "fail" || stopped(options.signal)) throw this.#explained(error);
        // A slow server would never be heard if each try waited equally briefly.
        if (error instanceof RpcTimeoutError)
          timeoutMs = Math.max(timeoutMs, Math.min(2 * timeoutMs, mostCallTimeoutMs));
        if (decision.moveOn) this.#leave(endpoint);
        // A connection that has lost one answer may lose them all.
        else if (error instanceof RpcTimeoutError) this.disconnect();
        if (decision.roundIsOver) {
          troubled = true;
          this.#options.onTrouble?.({ method, error, elapsedMs: failed.elapsedMs });
        }
        await this.#pause(decision.delayMs, options.signal);
        if (stopped(this.#closing.signal)) throw closedError();
        if (stopped(options.signal)) throw this.#explained(error);
      }
    }
  }

  /** Ends the connection. Calls in flight or waiting for another try fail with code `RPC_CLOSED`. */
  close(): void {
    this.#closing.abort();
    this.#connection?.close();
  }

  /** Drops the connection, so that the next try of any call makes a new one. */
  disconnect(): void {
    this.#connection?.close("RPC_CONNECTION_LOST");
    this.#connection = undefined;
  }

  get #retry(): RetryPolicy {
    const { retry = interactiveRetry } = this.#options;
    return typeof retry === "function" ? retry() : retry;
  }

  #connect(endpoint: HostPort): RpcConnection {
    if (stopped(this.#closing.signal)) throw closedError();
    if (this.#connection === undefined || this.#connection.closed) {
      this.#connection = new RpcConnection({
        endpoint,
        protocol: this.#options.protocol,
        strategies: () => this.#strategies(endpoint),
        clientId: this.#clientId,
        connectTimeoutMs: this.#options.connectTimeoutMs ?? defaultConnectTimeoutMs,
        maxFrameBytes: this.#options.maxFrameBytes,
      });
    }
    return this.#connection;
  }

  #service(endpoint: HostPort): RpcService {
    const { protocol, endpoints, token } = this.#options;
    return { transport: "rpc", protocol, endpoint, endpoints, token: token?.() };
  }

  async #strategies(endpoint: HostPort): Promise<readonly AuthenticationStrategy[]> {
    try {
      return await this.#options.credentials.forRpc(this.#service(endpoint));
    } catch (error) {
      throw authenticationFailure(error, "RPC_AUTHENTICATION");
    }
  }

  async #renewed(endpoint: HostPort, refusal: unknown): Promise<boolean> {
    return (await this.#options.credentials.renewed?.(this.#service(endpoint), refusal)) ?? false;
  }

  /** Unless another call has already left it. Other calls that wait for answers there are retried in the same way. */
  #leave(endpoint: HostPort): void {
    if (endpoint !== this.#endpoints.current) return;
    this.#endpoints.leave(endpoint);
    this.disconnect();
  }

  #pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    const signals = [this.#closing.signal, ...(signal === undefined ? [] : [signal])];
    return this.#clock.sleep(delayMs, AbortSignal.any(signals));
  }

  /** With several endpoints, a failed connection names them all. */
  #explained(error: unknown): unknown {
    if (!(error instanceof RpcConnectionError) || error.code !== "RPC_CONNECT_FAILED" || this.#endpoints.size === 1) {
      return error;
    }
    const message = `No endpoint of ${this.#endpoints} answers; the last try: ${errorMessage(error)}`;
    return new RpcConnectionError(message, { code: "RPC_CONNECT_FAILED", cause: error });
  }
}

/** Whether a server rejected our identity, or we rejected the server: nothing has been carried out. */
function isRefusal(error: unknown): boolean {
  return error instanceof AuthenticationError || (error instanceof RemoteError && error.unauthorized);
}

function stopped(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function closedError(): RpcConnectionError {
  return new RpcConnectionError("The client was closed", { code: "RPC_CLOSED" });
}
