import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type BindOptions, listenOn } from "../../src/api/server.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { contentPolicy, protect, sendJson, sendPage } from "../../src/page/answers.ts";
import { type LiveRequest, parseLiveRequest } from "../../src/page/live-request.ts";
import { parseReadings, type Reading } from "./log-parts.ts";

export interface PageDoorOptions {
  /** The page, one file. */
  readonly html: Buffer;
  /** Whoever sends it may see the whole job. */
  readonly key: string;
  readonly answer: (request: LiveRequest, mayLook: boolean) => object;
  readonly readLogs: (readings: readonly Reading[]) => Promise<object>;
  readonly settings: () => Promise<object>;
  /** @param ofTasks also of each task */
  readonly gauges: (ofTasks: boolean) => object;
  /** Only tests set it. */
  readonly connectionMs?: number;
}

export const MOST_PAGE_CONNECTIONS = 32;
export const MOST_PAGE_HEADER_BYTES = 8_192;
/** So many answers that are waited for are made at once. */
export const MOST_PAGE_READERS = 4;
/** For how long a connection may last, its request and the answer: whoever is slower is given up. */
export const PAGE_CONNECTION_MS = 20_000;

/**
 * The door of the job's page: what YARN's proxy, and whoever reaches this port, may fetch. Read-only; nothing that is fetched changes anything.
 * Every answer has status 200, 404 or 405 and a body: with another one (204, 304, a redirect) the proxy fails, or fetches by itself
 * (org.apache.hadoop.yarn.server.webproxy.WebAppProxyServlet#proxyLink).
 */
export class PageDoor {
  readonly #options: PageDoorOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #policy: string;
  #listener: { close(): void } | undefined;
  #readers = 0;

  constructor(options: PageDoorOptions) {
    this.#options = options;
    this.#policy = contentPolicy(options.html);
    const limits = { maxHeaderSize: MOST_PAGE_HEADER_BYTES, keepAlive: false };
    this.#server = createServer(limits, (request, response) => this.#serve(request, response));
  }

  /** Resolves with the port. Keeps no process alive. */
  async listen(options: BindOptions): Promise<number> {
    const { listener, port } = await listenOn(options, (socket) => this.#admit(socket));
    this.#listener = listener;
    return port;
  }

  close(): void {
    this.#listener?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #admit(socket: Socket): void {
    // A request takes milliseconds: the oldest are those who hold a place and ask nothing.
    const [oldest] = this.#sockets;
    if (oldest !== undefined && this.#sockets.size >= MOST_PAGE_CONNECTIONS) this.#end(oldest);
    this.#sockets.add(socket);
    socket.unref();
    // The server's own limits hold for connections that it takes itself.
    const timer = setTimeout(() => this.#end(socket), this.#options.connectionMs ?? PAGE_CONNECTION_MS).unref();
    socket.on("close", () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
    this.#server.emit("connection", socket);
    socket.resume();
  }

  #end(socket: Socket): void {
    this.#sockets.delete(socket);
    socket.destroy();
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    protect(response);
    response.setHeader("Connection", "close");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      sendJson(response, 405, { error: "the page is only read: GET" });
      return;
    }
    const address = request.url ?? "";
    const url = URL.canParse(address, "http://am") ? new URL(address, "http://am") : undefined;
    if (url?.pathname === "/") sendPage(response, this.#options.html, this.#policy);
    else if (url?.pathname === "/api/v1/live") this.#sendLive(request, url.searchParams, response);
    else if (url?.pathname === "/api/v1/logs") this.#sendLogs(request, url.searchParams, response);
    else if (url?.pathname === "/api/v1/settings") void this.#send(request, this.#options.settings, response);
    else if (url?.pathname === "/api/v1/metrics")
      void this.#send(request, async () => this.#options.gauges(url.searchParams.has("tasks")), response);
    else sendJson(response, 404, { error: "there is /, /api/v1/live, /logs, /metrics and /settings" });
  }

  #sendLogs(request: IncomingMessage, query: URLSearchParams, response: ServerResponse): void {
    const readings = parseReadings(query.get("of") ?? "");
    if (readings === undefined) sendJson(response, 404, { error: "the query is none of the page's" });
    else void this.#send(request, () => this.#options.readLogs(readings), response);
  }

  /** What has to be waited for, to who may see the job; a few at a time. */
  async #send({ headers }: IncomingMessage, make: () => Promise<object>, response: ServerResponse): Promise<void> {
    if (!this.#isProof(headers.accept ?? "")) return sendJson(response, 404, { error: "only with the page's key" });
    if (this.#readers >= MOST_PAGE_READERS) return sendJson(response, 200, { error: "others ask just now" });
    this.#readers += 1;
    try {
      sendJson(response, 200, await make());
    } catch (error) {
      sendJson(response, 200, { error: errorMessage(error) });
    } finally {
      this.#readers -= 1;
    }
  }

  #sendLive({ headers }: IncomingMessage, query: URLSearchParams, response: ServerResponse): void {
    const request = parseLiveRequest(query);
    if (request === undefined) sendJson(response, 404, { error: "the query is none of the page's" });
    else sendJson(response, 200, this.#options.answer(request, this.#isProof(headers.accept ?? "")));
  }

  /** The one header of a browser that the proxy passes on as it is, and that nobody logs. */
  #isProof(accept: string): boolean {
    const [, given = ""] = /^application\/json; key=([\w-]{1,100})$/.exec(accept) ?? [];
    return timingSafeEqual(sha256(given), sha256(this.#options.key));
  }
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
