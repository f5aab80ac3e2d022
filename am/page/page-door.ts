import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type BindOptions, listenOn } from "../../src/api/server.ts";
import { type LiveRequest, parseLiveRequest } from "./live-request.ts";

export interface PageDoorOptions {
  /** The page, one file. */
  readonly html: Buffer;
  /** Whoever sends it may see the whole job. */
  readonly key: string;
  readonly answer: (request: LiveRequest, mayLook: boolean) => object;
  /** Only tests set it. */
  readonly connectionMs?: number;
}

export const MOST_PAGE_CONNECTIONS = 32;
export const MOST_PAGE_HEADER_BYTES = 8_192;
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

  constructor(options: PageDoorOptions) {
    this.#options = options;
    this.#policy = contentPolicy(options.html.toString("utf8"));
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
    if (this.#sockets.size >= MOST_PAGE_CONNECTIONS) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    socket.unref();
    // The server's own limits hold for connections that it takes itself.
    const timer = setTimeout(() => socket.destroy(), this.#options.connectionMs ?? PAGE_CONNECTION_MS).unref();
    socket.on("close", () => {
      clearTimeout(timer);
      this.#sockets.delete(socket);
    });
    this.#server.emit("connection", socket);
    socket.resume();
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Referrer-Policy", "no-referrer");
    response.setHeader("Connection", "close");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("Allow", "GET, HEAD");
      sendJson(response, 405, { error: "the page is only read: GET" });
      return;
    }
    const address = request.url ?? "";
    const url = URL.canParse(address, "http://am") ? new URL(address, "http://am") : undefined;
    if (url?.pathname === "/") this.#sendPage(response);
    else if (url?.pathname === "/api/v1/live") this.#sendLive(request, url.searchParams, response);
    else sendJson(response, 404, { error: "there is / and /api/v1/live" });
  }

  #sendPage(response: ServerResponse): void {
    response.setHeader("Content-Security-Policy", this.#policy);
    response.setHeader("Cache-Control", "private, max-age=300");
    send(response, 200, "text/html; charset=utf-8", this.#options.html);
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

/** Nothing from elsewhere, and of what is inside only the scripts and styles that were built into it. */
function contentPolicy(html: string): string {
  const hashes = (tag: string) =>
    [...html.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, "g"))]
      .map(([, text = ""]) => `'sha256-${sha256(text).toString("base64")}'`)
      .join(" ");
  return [
    "default-src 'none'",
    `script-src ${hashes("script")}`,
    `style-src ${hashes("style")}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.setHeader("Cache-Control", "no-store");
  send(response, status, "application/json; charset=utf-8", Buffer.from(JSON.stringify(body)));
}

function send(response: ServerResponse, status: number, type: string, body: Buffer): void {
  response.writeHead(status, { "Content-Type": type, "Content-Length": body.length });
  response.end(body);
}
