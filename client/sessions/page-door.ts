import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { contentPolicy, isPageProof, PAGE_API, protect, send, sendJson, sendPage } from "../../src/page/answers.ts";

export interface PageDoorOptions {
  /** The page, one file. */
  readonly html: Buffer;
  /** What the job's ApplicationMaster answers, as JSON. @param path below `api/v1/`, with its query */
  readonly ask: (path: string) => Promise<string>;
}

/**
 * Serves a job's page on this machine: what it asks is asked of the ApplicationMaster over the connection that clients have to it. Whatever
 * else runs in the viewer's browser does not know the token, and is shown nothing.
 */
export class PageDoor {
  /** Shows the job, in the part of the address that browsers send to nobody. */
  readonly token = randomBytes(24).toString("base64url");
  readonly #options: PageDoorOptions;
  readonly #server: Server;

  constructor(options: PageDoorOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Serves one connection. */
  async serve(socket: Socket): Promise<undefined> {
    this.#server.emit("connection", socket);
    socket.resume();
  }

  async #answer({ method, url = "", headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { html, ask } = this.#options;
    protect(response);
    if (method !== "GET") sendJson(response, 405, { error: "the page is only read: GET" });
    else if (url === "/") sendPage(response, html, contentPolicy(html));
    else if (!url.startsWith(PAGE_API)) sendJson(response, 404, { error: "there is /, and what the page asks" });
    else if (!isPageProof(headers.accept, this.token)) sendJson(response, 403, { error: "only with the page's token" });
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
}
