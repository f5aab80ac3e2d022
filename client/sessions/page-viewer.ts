import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface PageViewerOptions {
  readonly response: ServerResponse;
  /** What the page shows of the job, as it asks for it. */
  readonly query: URLSearchParams;
  /** @param path below `api/v1/`, with its query */
  readonly ask: (path: string) => Promise<string>;
  /** So long changes are gathered. */
  readonly gatherMs: number;
}

/**
 * A page that is told of a job as it changes, by server-sent events (HTML Living Standard §9.2). One answer at a time is on its way to it:
 * who reads slowly is told less often, and holds no more than that.
 */
export class PageViewer {
  readonly #options: PageViewerOptions;
  readonly #left = new AbortController();
  #since: unknown;
  #isTold = false;
  #isOver = false;

  constructor(options: PageViewerOptions) {
    this.#options = options;
    const { response } = options;
    response.on("close", () => this.#left.abort());
    const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-store", Connection: "close" };
    response.writeHead(200, headers);
    response.flushHeaders();
    void this.#tell(0);
  }

  /** The job may have changed. Called again at least each second, so that what is missed meanwhile comes then. */
  changed(): void {
    if (!this.#isTold) void this.#tell(this.#options.gatherMs);
  }

  /** The last that it is told: how the job is now, and why nothing more comes. Resolves when the connection is closed. */
  async end(words: string): Promise<void> {
    const { response, query, ask } = this.#options;
    this.#isOver = true;
    const last: object = await ask(`live?${query}`).then(JSON.parse, () => ({}));
    response.end(`data: ${JSON.stringify({ ...last, isClosed: true, error: words })}\n\n`);
    if (response.socket?.destroyed === false) await once(response.socket, "close");
  }

  async #tell(inMs: number): Promise<void> {
    const { response, query, ask } = this.#options;
    this.#isTold = true;
    try {
      await sleep(inMs, undefined, { signal: this.#left.signal });
      query.set("since", String(this.#since ?? 0));
      const json = await ask(`live?${query}`);
      if (this.#isOver) return;
      const { rev }: { readonly rev?: unknown } = JSON.parse(json);
      const isNew = rev !== this.#since;
      this.#since = rev;
      if (isNew && !response.write(`data: ${json}\n\n`)) await once(response, "drain", { signal: this.#left.signal });
    } catch {
      // The page notices that, and asks for itself.
      if (!this.#isOver) response.end();
    } finally {
      this.#isTold = false;
    }
  }
}
