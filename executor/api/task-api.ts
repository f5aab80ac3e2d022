import { once, setMaxListeners } from "node:events";
import { appendFileSync } from "node:fs";
import { chmod, mkdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import path from "node:path";
import { bodyRoom, boundedBody } from "../../src/frameworks/rendezvous-store.ts";
import type { ProgramStart } from "../../src/frameworks/task-program.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { generationFiles } from "../../src/job/launch/container-names.ts";
import type { Advice } from "./advice.ts";
import { type Meeting, meet, meetingOf, membersOf } from "./barrier.ts";
import { CallError } from "./call.ts";
import { type AwaitEnds, endsOf } from "./ends.ts";
import { clusterFacts, taskFacts } from "./facts.ts";
import { Bytes, Feeds, type TaskFeeds } from "./feeds.ts";
import { Kv, type KvCall, type TaskStore } from "./kv.ts";
import { checkpointWarning, readReport } from "./report.ts";

export interface TaskApiOptions {
  /** A new folder for the socket. */
  readonly folder: string;
  /** The socket in it, by a path that a program can use. */
  readonly socket: string;
  readonly progressFile: string;
  /** How the program was started; undefined: it has not been. */
  readonly start: () => ProgramStart | undefined;
  readonly advice: () => Advice;
  /** The program has reported a checkpoint. */
  readonly saved: () => void;
  /** The ApplicationMaster's key-value store. Rejects with a CallError where it is not reached. */
  readonly store: TaskStore;
  readonly feeds: TaskFeeds;
  readonly awaitEnds: AwaitEnds;
}

/** A program with many processes keeps one for each; some wait. */
export const MOST_API_CONNECTIONS = 64;
export const MOST_API_BODY_BYTES = 256 << 10;
/** No timer watches the connections: all are the program's own. */
const OF_SERVER = {
  // So much of a feed is sent while the next bytes are read.
  highWaterMark: 256 << 10,
  connectionsCheckingInterval: 2 ** 31 - 1,
  requestTimeout: 0,
  headersTimeout: 0,
  keepAliveTimeout: 0,
};

interface Call extends KvCall {
  readonly start: ProgramStart;
}

/** In an address, a key, a barrier's name, or a feed's name and the call follows these. */
const KEYS = "/v1/kv/";
const BARRIERS = "/v1/barrier/";
const FEEDS = "/v1/feed/";

/** What a program asks its executor, over HTTP on a unix socket that only its user can use: docs/guide/task-api.md. */
export class TaskApi {
  readonly #options: TaskApiOptions;
  readonly #server: Server;
  readonly #room = bodyRoom(MOST_API_BODY_BYTES * MOST_API_CONNECTIONS);
  readonly #routes: Readonly<Record<string, (call: Call) => unknown>> = {
    "GET /v1/task": ({ start }) => taskFacts(start),
    "GET /v1/cluster": ({ start }) => clusterFacts(start),
    "GET /v1/ends": ({ start, query, gone }) => endsOf(start, query, this.#options.awaitEnds, gone()),
    "POST /v1/report": ({ body, start }) => this.#report(body.toString("utf8"), start),
    "GET /v1/kv": (call) => this.#kv.get(call),
    "POST /v1/kv": (call) => this.#kv.transact(call),
    "DELETE /v1/kv": (call) => this.#kv.del(call),
    [`GET ${KEYS}`]: (call) => this.#kv.get(call),
    [`PUT ${KEYS}`]: (call) => this.#kv.put(call),
    [`DELETE ${KEYS}`]: (call) => this.#kv.del(call),
    [`POST ${BARRIERS}`]: (call) => this.#meet(call),
    [`POST ${FEEDS}`]: (call) =>
      this.#feeds.post(call, { role: call.start.task.role, members: (roles) => membersOf(call.start, roles) }),
    [`GET ${FEEDS}`]: (call) => this.#feeds.read(call),
  };
  readonly #kv: Kv;
  readonly #feeds: Feeds;

  private constructor(options: TaskApiOptions) {
    this.#options = options;
    this.#kv = new Kv(options.store);
    this.#feeds = new Feeds(options.feeds);
    // When a call breaks off there is nobody to answer.
    this.#server = createServer(OF_SERVER, (request, response) => {
      void this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server.maxConnections = MOST_API_CONNECTIONS;
  }

  /** Answers calls from then on. Rejects where no socket can be created. */
  static async open(options: TaskApiOptions): Promise<TaskApi> {
    const api = new TaskApi(options);
    // The folder keeps other users out until the socket itself does.
    await mkdir(options.folder, { mode: 0o700 });
    api.#server.listen(options.socket);
    await once(api.#server, "listening");
    await chmod(options.socket, 0o600);
    return api;
  }

  /** The path by which the program reaches it. */
  get socket(): string {
    return this.#options.socket;
  }

  /** Ends all connections, and removes the socket. Never rejects. */
  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await this.#feeds.close();
    await rm(this.#options.folder, { recursive: true, force: true }).catch(() => undefined);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const answer = await this.#called(request, response);
      if (answer instanceof Bytes) await sendBytes(response, answer);
      else if (isStream(answer)) await sendAll(response, answer);
      else send(response, 200, answer);
    } catch (error) {
      if ((request.destroyed && !request.complete) || response.headersSent) throw error;
      const { status, code } = error instanceof CallError ? error : { status: 500, code: "FAILED" };
      // Unread bytes of a body would be taken for the next call.
      if (!request.complete) response.setHeader("connection", "close");
      send(response, status, { error: { code, message: errorMessage(error) } });
    }
  }

  async #called(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const [whole = "", query = ""] = (request.url ?? "").split("?");
    const path = [KEYS, BARRIERS, FEEDS].find((named) => whole.startsWith(named)) ?? whole;
    const route = this.#routes[`${request.method} ${path}`];
    if (route === undefined) throw this.#noRoute(request.method, path);
    const key = keyIn(whole.slice(path.length));
    const body = await boundedBody(request, MOST_API_BODY_BYTES, this.#room);
    if (typeof body === "string")
      throw new CallError(413, "TOO_LONG", `a body has at most ${MOST_API_BODY_BYTES} bytes`);
    const start = this.#options.start();
    if (start === undefined) throw new CallError(503, "NOT_STARTED", "the program has not been started");
    return await route({ start, key, query: new URLSearchParams(query), body, gone: () => endOf(response) });
  }

  #noRoute(method: string | undefined, path: string): CallError {
    const routes = Object.keys(this.#routes);
    const other = routes.find((route) => route.endsWith(` ${path}`));
    return other === undefined
      ? new CallError(404, "NOT_FOUND", `there is no ${path}: call one of ${routes.join(", ")}`)
      : new CallError(405, "METHOD", `${path} is not called with ${method}: ${other}`);
  }

  async #meet({ start, key: name, query, gone }: Call): Promise<Pick<Meeting, "generation" | "tasks">> {
    const meeting = meetingOf(start, name, query);
    await meet(this.#options.store, meeting, gone());
    return { generation: meeting.generation, tasks: meeting.tasks };
  }

  #report(body: string, { spec }: ProgramStart): ReportAnswer {
    const { line, checkpoint, ignored } = readReport(body === "" ? "{}" : body);
    const { progressFile, saved, advice } = this.#options;
    if (line !== "") appendFileSync(progressFile, line);
    if (checkpoint !== undefined) saved();
    const warning = checkpoint === undefined ? undefined : checkpointWarning(spec, checkpoint, process.cwd());
    return { ...advice(), ...(ignored.length > 0 && { ignored }), ...(warning && { warning }) };
  }
}

/** What to do next, and what happened to the report. */
type ReportAnswer = Advice & { readonly ignored?: readonly string[]; readonly warning?: string };

function isStream(answer: unknown): answer is AsyncGenerator<unknown> {
  return typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
}

/**
 * Until the stream ends, or nobody reads it any more. The head is sent with the first line, because a refusal needs
 * another head.
 */
async function sendAll(response: ServerResponse, lines: AsyncGenerator<unknown>): Promise<void> {
  const gone = once(response, "close");
  for await (const line of lines) {
    if (!response.headersSent) response.writeHead(200, { "content-type": "application/jsonl" });
    if (!response.write(`${JSON.stringify(line)}\n`)) await Promise.race([once(response, "drain"), gone]);
  }
  response.end();
}

/** As `sendAll`; an empty body still gets a head. */
async function sendBytes(response: ServerResponse, { chunks }: Bytes): Promise<void> {
  const gone = once(response, "close");
  const head = () => response.writeHead(200, { "content-type": "application/octet-stream" });
  for await (const chunk of chunks) {
    if (!response.headersSent) head();
    if (!response.write(chunk)) await Promise.race([once(response, "drain"), gone]);
    if (response.destroyed) return;
  }
  if (!response.headersSent) head();
  response.end();
}

function keyIn(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new CallError(400, "BAD_CALL", `${encoded} is not a percent-encoded key: write % as %25`);
  }
}

/** Aborts when nobody waits for the answer any more. */
function endOf(response: ServerResponse): AbortSignal {
  const end = new AbortController();
  // A call that reports many splits adds many listeners, and Node would print a warning into the program's output.
  setMaxListeners(Number.POSITIVE_INFINITY, end.signal);
  if (response.closed) end.abort();
  else response.once("close", () => end.abort());
  return end.signal;
}

function send(response: ServerResponse, status: number, content: unknown): void {
  const body = `${JSON.stringify(content)}\n`;
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

/** The limit of a socket's path (sun_path, unix(7)), without the NUL at its end. */
const MOST_PATH_BYTES = 107;

/** The folder in the container with the socket of that generation. */
export function socketFolder(workFolder: string, generation: number): string {
  return path.join(workFolder, generationFiles(generation).api);
}

/**
 * The path by which every process of the container can reach the socket. YARN's working directories alone are longer than a socket's
 * path may be: Linux resolves the path through the working directory of a process that runs in that folder.
 */
export function socketPath(workFolder: string, generation: number, pid: number): string {
  const whole = path.join(socketFolder(workFolder, generation), "socket");
  return Buffer.byteLength(whole) <= MOST_PATH_BYTES
    ? whole
    : path.join(`/proc/${pid}/cwd`, generationFiles(generation).api, "socket");
}
