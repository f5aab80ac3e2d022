import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { type BindOptions, listenOn } from "../../src/api/server.ts";
import { contentPolicy, isPageProof, PAGE_API, protect, sendJson, sendPage } from "../../src/page/answers.ts";
import type { PageAnswers } from "./page-answers.ts";
import { type PageCertificate, userOf } from "./page-certificate.ts";

export interface PageDoorOptions {
  /** The page, one file. */
  readonly html: Buffer;
  /** Whoever sends this key may see the whole job; undefined: nobody may, here. */
  readonly key: string | undefined;
  /** How YARN's proxy proves itself, and whether a user whom it names may see the job; absent: it cannot, and there is no TLS. */
  readonly proxy?: { readonly certificate: PageCertificate; readonly maySee: (user: string) => Promise<boolean> };
  readonly answers: Pick<PageAnswers, "answer">;
  /** Only tests set it. */
  readonly connectionMs?: number;
}

export const MOST_PAGE_CONNECTIONS = 32;
export const MOST_PAGE_HEADER_BYTES = 8_192;
/** How long a connection may last, including its request and the answer: a slower client is dropped. */
export const PAGE_CONNECTION_MS = 20_000;

/**
 * The door of the job's page: what YARN's proxy, and anybody who reaches this port, may fetch. Read-only: no request changes anything. Every
 * answer has status 200, 404 or 405 and a body: with any other (204, 304, a redirect) the proxy fails, or fetches by itself
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
    this.#policy = contentPolicy(options.html);
    const limits = { maxHeaderSize: MOST_PAGE_HEADER_BYTES, keepAlive: false };
    const serve = (request: IncomingMessage, response: ServerResponse) => this.#serve(request, response);
    const { proxy } = options;
    this.#server = proxy
      ? createTlsServer({ ...limits, ...proxy.certificate.options }, serve)
      : createServer(limits, serve);
  }

  /** Resolves with the port. Does not keep the process alive. */
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
    // A request takes milliseconds: the oldest connection is one that holds a place without asking anything.
    const [oldest] = this.#sockets;
    if (oldest !== undefined && this.#sockets.size >= MOST_PAGE_CONNECTIONS) this.#end(oldest);
    this.#sockets.add(socket);
    socket.unref();
    // The server's own limits apply only to connections that it accepts itself.
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
    else void this.#send(request, url, response);
  }

  async #send(request: IncomingMessage, url: URL | undefined, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = url ?? new URL("http://am");
    const what = pathname.startsWith(PAGE_API) ? pathname.slice(PAGE_API.length) : "";
    const { status, body } = await this.#options.answers.answer(what, searchParams, await this.#mayLook(request));
    sendJson(response, status, body);
  }

  async #mayLook(request: IncomingMessage): Promise<boolean> {
    const { key, proxy } = this.#options;
    // The only browser header that the proxy passes on unchanged, and that nobody logs.
    if (key !== undefined && isPageProof(request.headers.accept, key)) return true;
    if (proxy === undefined) return false;
    const user = userOf(request, proxy.certificate);
    return user !== undefined && (await proxy.maySee(user));
  }
}
