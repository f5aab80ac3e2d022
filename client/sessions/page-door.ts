import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { contentPolicy, isPageProof, PAGE_API, protect, send, sendJson, sendPage } from "../../src/page/answers.ts";
import { PageViewer } from "./page-viewer.ts";

export interface PageDoorOptions {
  /** The page, one file. */
  readonly html: Buffer;
  /** The answer of the job's ApplicationMaster, as JSON. @param path below `api/v1/`, with its query */
  readonly ask: (path: string) => Promise<string>;
  /** How long changes are collected before viewers are told; only tests set it. */
  readonly gatherMs?: number;
}

/** At most this many pages are told of changes as they happen; others ask. */
export const MOST_VIEWERS = 8;
/** For this long the ApplicationMaster answers from the same snapshot of the job. */
const GATHER_MS = 1_000;
/** How long a viewer may take to receive how the job ended. */
const LAST_MS = 2_000;
/** The path where a page is told of changes, with the query for what it shows. */
const STREAM = `${PAGE_API}stream?`;

/**
 * Serves a job's page on this machine: passes its requests to the ApplicationMaster over the client's connection. Other programs and pages
 * in the viewer's browser do not know the token, and see nothing.
 */
export class PageDoor {
  /** The secret that shows the job, in the part of the address that browsers never send. */
  readonly token = randomBytes(24).toString("base64url");
  readonly #options: PageDoorOptions;
  readonly #server: Server;
  readonly #viewers = new Set<PageViewer>();

  constructor(options: PageDoorOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Serves one connection. */
  async serve(socket: Socket): Promise<undefined> {
    this.#server.emit("connection", socket);
    socket.resume();
  }

  /** The job may have changed. To be called at least every second, so that viewers who were busy hear of it. */
  changed(): void {
    for (const viewer of this.#viewers) viewer.changed();
  }

  /** Tells all viewers the job's last state, and why there will be no more. */
  async close(words: string): Promise<void> {
    const told = Promise.all([...this.#viewers].map((viewer) => viewer.end(words)));
    await Promise.race([told, sleep(LAST_MS, undefined, { ref: false })]);
  }

  async #answer({ method, url = "", headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { html, ask } = this.#options;
    protect(response);
    if (method !== "GET") sendJson(response, 405, { error: "the page is only read: GET" });
    else if (url === "/") sendPage(response, html, contentPolicy(html));
    else if (!url.startsWith(PAGE_API)) sendJson(response, 404, { error: "there is /, and what the page asks" });
    else if (!isPageProof(headers.accept, this.token)) sendJson(response, 403, { error: "only with the page's token" });
    else if (url.startsWith(STREAM)) this.#tell(url, response);
    else {
      try {
        const json = await ask(url.slice(PAGE_API.length));
        response.setHeader("Cache-Control", "no-store");
        send(response, 200, "application/json; charset=utf-8", Buffer.from(json));
      } catch {
        // The page then says that nobody answers, and asks again.
        send(response, 502, "text/plain; charset=utf-8", Buffer.from("The ApplicationMaster does not answer\n"));
      }
    }
  }

  #tell(url: string, response: ServerResponse): void {
    if (this.#viewers.size >= MOST_VIEWERS) {
      sendJson(response, 503, { error: "others are told of changes: this page asks" });
      return;
    }
    const { ask, gatherMs = GATHER_MS } = this.#options;
    const viewer = new PageViewer({ response, query: new URLSearchParams(url.slice(STREAM.length)), ask, gatherMs });
    this.#viewers.add(viewer);
    response.on("close", () => this.#viewers.delete(viewer));
  }
}
