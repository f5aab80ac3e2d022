import { type EventEmitter, once } from "node:events";
import { createServer, type Socket } from "node:net";
import { Server, type ServerInterceptor, type status } from "@grpc/grpc-js";
import { formatHostPort } from "../hadoop/conf/values.ts";
import { errorMessage } from "../hadoop/errors.ts";
import type { PortRange } from "../job/spec.ts";
import { candidatePorts } from "../port-range.ts";
import { ApiError } from "./errors.ts";
import type { KeyAndCertificate } from "./identity.ts";
import { serverCredentials, serverOptions } from "./tls.ts";

/** Where a server listens. */
export interface BindOptions {
  /** An address of this machine; absent: all of them. */
  readonly host?: string;
  /** Absent: any free port. */
  readonly ports?: PortRange;
  /** The key a person changes when no port of the range is free. */
  readonly portKey: string;
  /** 0 up to, not including, 1: spreads the servers of one machine over the range. */
  readonly random: () => number;
}

export function makeServer(interceptors: readonly ServerInterceptor[]): Server {
  return new Server({ ...serverOptions, interceptors: [...interceptors] });
}

/**
 * Listens over TLS. Resolves with the port.
 * Throws an ApiError with code `NO_FREE_PORT` naming the key when every port of the range is taken, else `BIND_FAILED`.
 */
export async function bindServer(server: Server, identity: KeyAndCertificate, options: BindOptions): Promise<number> {
  const hosts = options.host === undefined ? ["::", "0.0.0.0"] : [options.host];
  return await firstFree(options, async (port) => {
    for (const host of hosts.slice(0, -1)) {
      const bound = await bindOnce(server, identity, formatHostPort({ host, port })).catch(() => undefined);
      if (bound !== undefined) return bound;
    }
    return await bindOnce(server, identity, formatHostPort({ host: hosts.at(-1) ?? "", port }));
  });
}

/** Listens for plain connections, which keeps no process alive. Resolves with the port; throws as bindServer. */
export async function listenOn(options: BindOptions, connected: (socket: Socket) => void): Promise<number> {
  const { host } = options;
  return await firstFree(options, async (port) => {
    const listener = createServer(connected).unref();
    listener.listen({ port, ...(host !== undefined && { host }) });
    await once(listener, "listening");
    const address = listener.address();
    return typeof address === "object" && address !== null ? address.port : port;
  });
}

async function firstFree(options: BindOptions, open: (port: number) => Promise<number>): Promise<number> {
  let failure: unknown;
  for (const port of candidatePorts(options.ports, options.random)) {
    try {
      return await open(port);
    } catch (error) {
      failure = error;
    }
  }
  throw bindError(failure, options);
}

function bindOnce(server: Server, identity: KeyAndCertificate, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, serverCredentials(identity), (error, port) => (error ? reject(error) : resolve(port)));
  });
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

/** How often connections to a server that is being closed are cut off. */
const CUT_AGAIN_MS = 50;
const MOST_CUTS = 60;

/**
 * Waits at most that long for current calls to end, and then cuts them off. It does so repeatedly, because grpc-js does not know a connection
 * before its handshake is over.
 */
export function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    let cutsLeft = MOST_CUTS;
    let timer = setTimeout(function cut() {
      server.forceShutdown();
      // A peer that stopped in the middle of its handshake cannot be cut off: the server does not wait for it.
      if (cutsLeft-- > 0) timer = setTimeout(cut, CUT_AGAIN_MS);
      else resolve();
    }, graceMs);
    server.tryShutdown(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** grpc-js turns an emitted error into the status of the call; an error that destroys the stream would not reach the caller. */
export function endWithError(stream: EventEmitter, message: string, code: status): void {
  stream.emit("error", Object.assign(new Error(message), { code }));
}
