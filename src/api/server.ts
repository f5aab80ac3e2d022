import { type EventEmitter, once } from "node:events";
import { createServer, type Server as Listener, type Socket } from "node:net";
import { type ConnectionInjector, Server, type status } from "@grpc/grpc-js";
import { errorMessage } from "../hadoop/errors.ts";
import type { PortRange } from "../job/spec.ts";
import { candidatePorts } from "../listening.ts";
import { requireProof } from "./authentication.ts";
import { tellOfCalls } from "./begun-calls.ts";
import type { Callers, CallRefusal } from "./caller.ts";
import { CallerCalls, type CallLimits } from "./caller-calls.ts";
import { ConnectionGuard, type GuardLimits, guardLimitsOf } from "./connection-guard.ts";
import { ApiError } from "./errors.ts";
import { makeServerKey } from "./server-key.ts";
import { serverCredentials, serverOptions } from "./tls.ts";

/** Where a server listens. */
export interface BindOptions {
  /** An address of this machine; undefined: all of them. */
  readonly host?: string | undefined;
  /** Absent: any free port. */
  readonly ports?: PortRange;
  /** The key to change when no port of the range is free. */
  readonly portKey: string;
  /** 0 up to, not including, 1: spreads the servers on one machine over the range. */
  readonly random: () => number;
}

export interface ApiServerOptions {
  /** The name in its certificate. */
  readonly name: string;
  readonly callers: Callers;
  /** Which callers may not call a method; absent: each may call all. */
  readonly refusal?: CallRefusal;
  /** Adds the services to the gRPC server. */
  readonly services: (server: Server) => void;
  /** The limits of connections; only tests set them. */
  readonly limits?: GuardLimits;
  /** The limits for each caller; absent: the usual ones. */
  readonly callLimits?: CallLimits;
}

/**
 * A port on which callers that can prove their names call services over TLS. The gRPC server and its key are created for the first caller:
 * most executors never have one, and it would take a tenth of their start.
 */
export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #guard: ConnectionGuard;
  #listener: Listener | undefined;
  #serving: { readonly server: Server; readonly connections: ConnectionInjector } | undefined;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#guard = new ConnectionGuard(options.limits ?? guardLimitsOf(options.callLimits));
  }

  /**
   * Resolves with the port. Does not keep the process alive.
   * @throws ApiError `NO_FREE_PORT` naming the key if every port of the range is taken, else `BIND_FAILED`
   */
  async listen(options: BindOptions): Promise<number> {
    const serve = (socket: Socket) => this.#server().connections.injectConnection(socket);
    const { listener, port } = await listenOn(options, (socket) => this.#guard.admit(socket, serve));
    this.#listener = listener;
    return port;
  }

  /** Accepts no further connection, waits at most that long for current calls to end, and then cuts them off. */
  async close(graceMs: number): Promise<void> {
    this.#listener?.close();
    this.#guard.close();
    if (this.#serving !== undefined) await shutDown(this.#serving.server, graceMs);
    // With Node 24, grpc-js leaves the connections open whose calls it cuts off.
    this.#guard.cutOff();
  }

  #server() {
    this.#serving ??= this.#make();
    return this.#serving;
  }

  #make() {
    const { name, callers, refusal, services, callLimits } = this.#options;
    const key = makeServerKey(name, Date.now());
    const door = { callers, refusal, proofs: this.#guard, calls: new CallerCalls(callLimits) };
    const server = new Server({ ...serverOptions, interceptors: [requireProof(key.certificate, door)] });
    services(server);
    const connections = server.createConnectionInjector(serverCredentials(key));
    tellOfCalls(server, this.#guard);
    return { server, connections };
  }
}

function shutDown(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    // grpc-js may never report that it is done if a connection ends while it is being cut off.
    const timer = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Accepts connections on a port. Does not keep the process alive. @throws as ApiServer's listen */
export async function listenOn(options: BindOptions, connected: (socket: Socket) => void) {
  const { host } = options;
  let failure: unknown;
  for (const candidate of candidatePorts(options.ports, options.random)) {
    try {
      const listener = createServer({ pauseOnConnect: true }, connected).unref();
      listener.listen({ port: candidate, ...(host !== undefined && { host }) });
      await once(listener, "listening");
      // If no descriptor is left for a connection, its caller has to try again.
      listener.on("error", () => undefined);
      const address = listener.address();
      return { listener, port: typeof address === "object" && address !== null ? address.port : candidate };
    } catch (error) {
      failure = error;
    }
  }
  throw bindError(failure, options);
}

function bindError(cause: unknown, { ports, portKey }: BindOptions): ApiError {
  if (ports === undefined) {
    return new ApiError(`No port could be opened: ${errorMessage(cause)}`, { code: "BIND_FAILED", cause });
  }
  return new ApiError(
    `No port of ${ports.from}-${ports.to} is free on this machine: widen ${portKey} (${errorMessage(cause)})`,
    { code: "NO_FREE_PORT", cause, retryable: true },
  );
}

/** grpc-js turns an emitted error into the status of the call; an error that destroys the stream would not reach the caller. */
export function endWithError(stream: Pick<EventEmitter, "emit">, message: string, code: status): void {
  stream.emit("error", Object.assign(new Error(message), { code }));
}
