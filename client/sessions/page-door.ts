import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { contentPolicy, isPageProof, PAGE_API, protect, send, sendJson, sendPage } from "../../src/page/answers.ts";
import { PageViewer } from "./page-viewer.ts";

export interface PageDoorOptions {
  /** The page, one file. */
  readonly html: Buffer;
  /** What the job's ApplicationMaster answers, as JSON. @param path below `api/v1/`, with its query */
  readonly ask: (path: string) => Promise<string>;
  /** So long changes are gathered before viewers are told; only tests set it. */
  readonly gatherMs?: number;
}

/** So many pages are told of changes as they come; others ask. */
export const MOST_VIEWERS = 8;
/** As long as the ApplicationMaster answers from the same look at the job. */
const GATHER_MS = 1_000;
/** So long a viewer may take to hear how the job ended. */
const LAST_MS = 2_000;
/** Where a page is told of changes, with the query of what it shows. */
const STREAM = `${PAGE_API}stream?`;

/**
 * Serves a job's page on this machine: what it asks is asked of the ApplicationMaster over the connection that clients have to it. Whatever
 * else runs in the viewer's browser does not know the token, and is shown nothing.
 */
export class PageDoor {
  /** Shows the job, in the part of the address that browsers send to nobody. */
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

  /** The job may have changed. To be called at least each second, so that viewers who were busy hear of it. */
  changed(): void {
    for (const viewer of this.#viewers) viewer.changed();
  }

  /** Tells all viewers a last time how the job is, and why nothing more comes. */
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
        // The page says that nobody answers, and asks again.
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
