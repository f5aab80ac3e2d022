import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface PageViewerOptions {
  readonly response: ServerResponse;
  /** The query of the page's own requests: what it shows of the job. */
  readonly query: URLSearchParams;
  /** @param path below `api/v1/`, with its query */
  readonly ask: (path: string) => Promise<string>;
  /** How long changes are collected. */
  readonly gatherMs: number;
}

/**
 * A page that is told of a job's changes by server-sent events (HTML Living Standard §9.2). One answer at a time is in flight: a slow
 * reader gets fewer of them, and no more than one is buffered.
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

  /** The job may have changed. Called at least every second, so that a busy page catches up with what it missed. */
  changed(): void {
    if (!this.#isTold) void this.#tell(this.#options.gatherMs);
  }

  /** Sends the last message: the job's state now, and why there will be no more. Resolves when the connection is closed. */
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
      // The page notices the end of the stream, and asks again itself.
      if (!this.#isOver) response.end();
    } finally {
      this.#isTold = false;
    }
  }
}
