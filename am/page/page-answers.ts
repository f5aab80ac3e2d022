import { errorMessage } from "../../src/hadoop/errors.ts";
import { type LiveRequest, NO_SUCH_QUERY, parseLiveRequest } from "../../src/page/live-request.ts";
import { parseReadings, type Reading } from "./log-parts.ts";

/** The sources of a page's answers. */
export interface PageSources {
  readonly live: (request: LiveRequest, mayLook: boolean) => object;
  readonly readLogs: (readings: readonly Reading[]) => Promise<object>;
  readonly settings: () => Promise<object>;
  /** The facts for advice on the next run. */
  readonly run: () => object;
  /** @param ofTasks also for each task */
  readonly gauges: (ofTasks: boolean) => object;
}

export interface PageAnswer {
  /** As in HTTP. */
  readonly status: 200 | 404;
  readonly body: object;
}

/** How many answers that wait for something may be in progress at once. */
export const MOST_PAGE_READERS = 4;

/** The answers of a job's page, however it is asked. No question changes anything. */
export class PageAnswers {
  readonly #sources: PageSources;
  #readers = 0;

  constructor(sources: PageSources) {
    this.#sources = sources;
  }

  /** @param what `live`, `logs`, `metrics`, `run` or `settings` */
  async answer(what: string, query: URLSearchParams, mayLook: boolean): Promise<PageAnswer> {
    const { live, readLogs, settings, gauges, run } = this.#sources;
    if (what === "live") {
      const request = parseLiveRequest(query);
      return request === undefined ? NO_QUERY : { status: 200, body: live(request, mayLook) };
    }
    if (what === "settings") return await this.#wait(mayLook, settings);
    if (what === "run") return await this.#wait(mayLook, async () => run());
    if (what === "metrics") return await this.#wait(mayLook, async () => gauges(query.has("tasks")));
    if (what !== "logs") return NOTHING_ELSE;
    const readings = parseReadings(query.get("of") ?? "");
    return readings === undefined ? NO_QUERY : await this.#wait(mayLook, () => readLogs(readings));
  }

  /** An answer that must be waited for, only for those who may see the job, and a few at a time. */
  async #wait(mayLook: boolean, make: () => Promise<object>): Promise<PageAnswer> {
    if (!mayLook) return refusal("only with the page's key");
    if (this.#readers >= MOST_PAGE_READERS) return { status: 200, body: { error: "others ask just now" } };
    this.#readers += 1;
    try {
      return { status: 200, body: await make() };
    } catch (error) {
      return { status: 200, body: { error: errorMessage(error) } };
    } finally {
      this.#readers -= 1;
    }
  }
}

const NO_QUERY = refusal(NO_SUCH_QUERY);
const NOTHING_ELSE = refusal("there is /, /api/v1/live, /logs, /metrics, /run and /settings");

function refusal(error: string): PageAnswer {
  return { status: 404, body: { error } };
}
