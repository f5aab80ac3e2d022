import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
} from "node:http2";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { executorSecrets } from "../../src/api/identity.ts";
import { makeServerKey } from "../../src/api/server-key.ts";
import { readTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { ClusterStatus } from "./cluster.ts";

/** The name that an attacker can prove, by its secret. */
export interface Held {
  readonly name: string;
  readonly secret: Uint8Array;
}

/** A connection to a job's port as anybody who can reach the port may make it, without any code of tony-ts in between. */
export class RawConnection {
  readonly #session: ClientHttp2Session;
  readonly #certificate: Buffer;

  private constructor(session: ClientHttp2Session, certificate: Buffer) {
    this.#session = session;
    this.#certificate = certificate;
  }

  static async open(address: string): Promise<RawConnection> {
    const { hostname, port } = new URL(`https://${address}`);
    const socket = connectTls({ host: hostname, port: Number(port), ALPNProtocols: ["h2"], rejectUnauthorized: false });
    await once(socket, "secureConnect");
    const certificate = socket.getPeerX509Certificate()?.raw ?? Buffer.alloc(0);
    const session = connect(`https://${address}`, { createConnection: () => socket });
    session.on("error", () => undefined);
    return new RawConnection(session, certificate);
  }

  get isClosed(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  /** Begins a call, with the proof of a name where its secret is held. */
  call(method: string, held?: Held): ClientHttp2Stream {
    const call = this.#session.request({
      ":method": "POST",
      ":path": method,
      "content-type": "application/grpc",
      te: "trailers",
      ...(held !== undefined && { authorization: `Tony ${held.name} ${this.#proof(held)}` }),
    });
    call.on("error", () => undefined).resume();
    return call;
  }

  close(): void {
    this.#session.destroy();
  }

  #proof({ secret }: Held): string {
    return createHmac("sha256", secret).update("caller ").update(this.#certificate).digest("base64url");
  }
}

/**
 * A server on a port where a job's program used to listen. It knows no secret. In turn it refuses a call, or ends it as if
 * everything were said.
 */
export class FalseServer {
  readonly #server: Http2SecureServer;
  readonly #sessions = new Set<ServerHttp2Session>();
  /** The methods that were called. */
  readonly asked: string[] = [];
  /** How many bytes of messages arrived. */
  messages = 0;

  private constructor(server: Http2SecureServer) {
    this.#server = server;
    server.on("session", (session) => this.#sessions.add(session.on("error", () => undefined)));
    server.on("stream", (stream, headers) => {
      this.asked.push(String(headers[":path"]));
      stream.on("error", () => undefined);
      stream.on("data", (data) => {
        this.messages += data.length;
      });
      const status = { ":status": 200, "content-type": "application/grpc" };
      const [code] = this.asked.length % 2 === 0 ? ["0"] : ["7"];
      stream.respond({ ...status, "grpc-status": code, "grpc-message": "evil" }, { endStream: true });
    });
  }

  /** Listens as soon as the port is free. */
  static async listen(address: string): Promise<FalseServer> {
    const { certificate, privateKey } = makeServerKey("evil", Date.now());
    const { hostname, port } = new URL(`https://${address}`);
    for (;;) {
      const server = createSecureServer({ key: privateKey, cert: certificate });
      try {
        server.listen(Number(port), hostname);
        await once(server, "listening");
        return new FalseServer(server);
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  }

  close(): void {
    for (const session of this.#sessions) session.destroy();
    this.#server.close();
  }
}

/** The gRPC status of a call, or `reset` where it ended without one. */
export async function statusOf(call: ClientHttp2Stream): Promise<string> {
  return await new Promise((resolve) => {
    const tell = (headers: Readonly<Record<string, unknown>>) => {
      if (headers["grpc-status"] !== undefined) resolve(String(headers["grpc-status"]));
    };
    call.on("response", tell).on("trailers", tell);
    call.on("close", () => resolve("reset"));
  });
}

/** The beginning of a message of `lengthBytes`, of which only `sentBytes` are sent. */
export function begunMessage(lengthBytes: number, sentBytes: number): Buffer {
  const message = Buffer.alloc(5 + sentBytes);
  message.writeUInt32BE(lengthBytes, 1);
  return message;
}

/** The secret that one container of a running job was given, from its node's own copy, which root may read here. */
export function secretOfContainer({ nodes }: ClusterStatus, applicationId: string, containerId: string): Held {
  const [file] = nodes
    .map(({ folder }) => path.join(folder, "local", "nmPrivate", applicationId, containerId))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => path.join(folder, name)))
    .filter((name) => name.endsWith(".tokens"));
  if (file === undefined) throw new Error(`no node has the tokens of ${containerId}`);
  const { secrets } = readTokenFile(readFileSync(file));
  const [name = ""] = executorSecrets({ applicationId, caller: { name: "", secret: new Uint8Array() } }).keys();
  const secret = secrets.get(name);
  if (secret === undefined) throw new Error(`${file} has no ${name}`);
  return { name: containerId, secret };
}

/** By how much the memory of a process grows from now on at most, in MiB. */
export class Growth {
  readonly #pid: number;
  readonly #before: number;
  readonly #timer: NodeJS.Timeout;
  #most: number;

  constructor(pid: number) {
    this.#pid = pid;
    this.#before = residentMiB(pid);
    this.#most = this.#before;
    this.#timer = setInterval(() => this.#look(), 50).unref();
  }

  /** The most until now. */
  get most(): number {
    this.#look();
    return this.#most - this.#before;
  }

  end(): number {
    clearInterval(this.#timer);
    return this.most;
  }

  #look(): void {
    this.#most = Math.max(this.#most, residentMiB(this.#pid));
  }
}

/** 0 for a process that has ended. */
function residentMiB(pid: number): number {
  const file = `/proc/${pid}/status`;
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
}

const NOBODY = 65_534;

/** A process of another user of this machine, `nobody`, that runs a Python program. Only root can start one. */
export class StrangeProcess {
  readonly #process: ChildProcess;
  readonly ended: Promise<unknown>;
  #said = "";

  constructor(program: string, ...words: readonly string[]) {
    this.#process = spawn("python3", ["-c", program, ...words], {
      ...{ uid: NOBODY, gid: NOBODY, cwd: "/" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#process.stdout?.on("data", (chunk) => {
      this.#said += chunk;
    });
    this.ended = once(this.#process, "close");
  }

  get said(): string {
    return this.#said;
  }

  /** Resolves when the process has printed something that matches. */
  async says(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#said);
      if (found !== null) return found;
      if (this.#process.exitCode !== null) throw new Error(`the strange process ended: ${this.#said}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async end(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.ended;
  }
}
