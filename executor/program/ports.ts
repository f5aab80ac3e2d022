import { type ChildProcess, spawn } from "node:child_process";
import { createServer as createWebServer, type RequestListener, type Server as WebServer } from "node:http";
import type { Socket } from "node:net";
import { TonyError, UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import type { PortRange } from "../../src/job/spec.ts";
import { candidatePorts } from "../../src/listening.ts";

/** A port that no other process of this machine can open while it is held. */
export interface HeldPort {
  readonly port: number;
  /** From now on HTTP requests are answered there, until it is released. */
  serve(listener: RequestListener): void;
  /** Resolves when another process may open it. */
  release(): Promise<void>;
}

export interface PortOptions {
  /** An address of this machine; undefined: all of them. */
  readonly host?: string | undefined;
  /** Absent: any free port. */
  readonly ports?: PortRange;
  /** 0 up to, not including, 1. */
  readonly random: () => number;
}

const PORT_KEY = "tony.task.port-range";
const REUSE_KEY = "tony.task.reuse-port";

/**
 * Opens a port and keeps it open. Connections are closed at once, because the program does not run yet. Throws a TonyError with code
 * `NO_FREE_PORT` naming the key.
 */
export async function holdPort({ host, ports, random }: PortOptions): Promise<HeldPort> {
  for (const port of candidatePorts(ports, random)) {
    const server = await listen(port, host);
    if (server !== undefined) return heldBy(server);
  }
  throw noFreePort(ports);
}

/**
 * Holds a port with SO_REUSEPORT while a program that opens it in the same way runs. Node can set the option only on a listening socket,
 * which would take a share of the program's own connections (socket(7)); so python3 binds the port, without listening, until its input ends.
 * Throws a UserError with code `REUSE_PORT_UNAVAILABLE` where there is no python3, and a TonyError with code `NO_FREE_PORT`.
 */
export async function holdReusablePort(options: PortOptions, python = "python3"): Promise<HeldPort> {
  const candidates = candidatePorts(options.ports, options.random);
  const holder = spawn(python, ["-c", holderProgram, ...candidates.map(String)], { stdio: ["pipe", "pipe", "pipe"] });
  const port = await firstLine(holder);
  if (port === 0) throw noFreePort(options.ports);
  const serve = () => {
    throw new TonyError(`${REUSE_KEY} leaves the port to the program`, { code: "PORT_IS_PROGRAMS" });
  };
  return { port, serve, release: () => ended(holder) };
}

const holderProgram = `
import socket, sys
for port in map(int, sys.argv[1:]):
    holder = socket.socket(socket.AF_INET)
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        holder.bind(("", port))
    except OSError:
        continue
    print(holder.getsockname()[1], flush=True)
    sys.stdin.read()
    sys.exit(0)
print(0, flush=True)
`;

/** How many connections there may be, and how long each may take to send its headers: anybody can open them. */
export const MOST_CONNECTIONS = 4_096;
export const HEADERS_TIMEOUT_MS = 10_000;
/** The limit for the whole request. */
export const REQUEST_TIMEOUT_MS = 60_000;

function heldBy(server: WebServer): HeldPort {
  const turnAway = (socket: Socket) => void socket.destroy();
  server.prependListener("connection", turnAway);
  return {
    port: portOf(server),
    serve: (listener) => {
      server.off("connection", turnAway);
      server.on("request", listener);
    },
    release: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Undefined when the port is taken or not ours to open. */
function listen(port: number, host: string | undefined): Promise<WebServer | undefined> {
  return new Promise((resolve, reject) => {
    const server = createWebServer({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS });
    server.maxConnections = MOST_CONNECTIONS;
    server.once("error", (error) => {
      if (["EADDRINUSE", "EACCES"].includes(String(errorCode(error)))) resolve(undefined);
      else reject(error);
    });
    server.listen({ port, ...(host !== undefined && { host }) }, () => resolve(server));
  });
}

/** Those that another process of this machine has, on whatever address. */
export async function takenPorts(ports: readonly number[]): Promise<number[]> {
  const taken: number[] = [];
  for (const port of ports) {
    const server = await listen(port, undefined);
    if (server === undefined) taken.push(port);
    else await heldBy(server).release();
  }
  return taken;
}

function portOf(server: WebServer): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function firstLine(holder: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let errors = "";
    holder.stderr?.on("data", (data: Buffer) => {
      errors = (errors + data.toString()).slice(-1000);
    });
    const unavailable = (cause: unknown, problem: string) =>
      reject(
        new UserError(`${REUSE_KEY} needs python3 on every node: ${problem}. Install it, or take the key out`, {
          code: "REUSE_PORT_UNAVAILABLE",
          cause,
        }),
      );
    holder.once("error", (error) => unavailable(error, errorMessage(error)));
    holder.once("exit", (code) => unavailable(undefined, `it exited with ${code} (${errors.trim()})`));
    holder.stdout?.once("data", (line: Buffer) => resolve(Number(line.toString())));
  });
}

function ended(holder: ChildProcess): Promise<void> {
  if (holder.exitCode !== null || holder.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    holder.once("exit", () => resolve());
    holder.stdin?.end();
  });
}

function noFreePort(ports: PortRange | undefined): TonyError {
  const range = ports === undefined ? "Any port" : `Every port of ${ports.from}-${ports.to}`;
  return new TonyError(`${range} is taken on this machine: widen ${PORT_KEY}`, {
    code: "NO_FREE_PORT",
    retryable: true,
  });
}
