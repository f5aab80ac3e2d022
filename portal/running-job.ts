import { TonyError } from "../src/errors.ts";
import { errorMessage } from "../src/hadoop/errors.ts";
import { contentUpTo } from "../src/hadoop/hdfs/content.ts";
import type { FileSystem } from "../src/hadoop/hdfs/file-system.ts";
import { ifThere } from "../src/hadoop/hdfs/if-there.ts";
import type { HttpClient } from "../src/hadoop/http/client.ts";
import { readText } from "../src/hadoop/http/exchange.ts";
import type { ApplicationReport } from "../src/hadoop/yarn/records.ts";
import { pageKeyFile } from "../src/history/layout.ts";
import { recordOf } from "../src/job/shape.ts";

/** Where a running job's own page is, and the key that opens all of it. */
export interface OwnPage {
  /** At YARN's proxy. */
  readonly url: string;
  readonly key?: string;
  /**
   * Whether the proxy proves to the page who asks: then it shows everything without a key. Without either, it shows only what YARN shows
   * everybody.
   */
  readonly knowsViewers?: true;
}

const MOST_KEY_BYTES = 100;
const notAllOfIt =
  "the portal is not shown all of it: tony.am.page.enabled=true, or tony.application.acl.view names the portal's user";
const MOST_ANSWER_BYTES = 4 * 2 ** 20;
const IDLE_MS = 10_000;
/**
 * At most so many requests are open at once, for all jobs. An answer takes milliseconds; the oldest request, which a job may delay at will,
 * is dropped for a new one.
 */
const MOST_ASKED = 8;
const ANSWER_MS = 20_000;

/**
 * Asks the pages of running jobs as a browser does: through YARN's proxy, at the address that the ResourceManager reports. So the portal never
 * connects to an address that a job names, and only the proxy has to reach its ApplicationMaster.
 */
export class RunningJobs {
  readonly #http: Pick<HttpClient, "send">;
  readonly #fileSystem: Pick<FileSystem, "open">;
  readonly #asked = new Set<AbortController>();

  constructor(http: Pick<HttpClient, "send">, fileSystem: Pick<FileSystem, "open">) {
    this.#http = http;
    this.#fileSystem = fileSystem;
  }

  /** @param folder the job's history, where its ApplicationMaster leaves the key for those who may read that folder */
  async pageOf(
    { state, trackingUrl, unmanaged, servesHttps }: ApplicationReport,
    folder: string,
  ): Promise<OwnPage | undefined> {
    // For an unmanaged application the ResourceManager reports an address that its owner chose (RMAppAttemptImpl#getTrackingUrl).
    if (state !== "RUNNING" || unmanaged === true || !URL.canParse(trackingUrl)) return undefined;
    const content = await ifThere(contentUpTo(this.#fileSystem, `${folder}/${pageKeyFile}`, MOST_KEY_BYTES));
    const key = content?.toString("utf8") ?? "";
    const opens = servesHttps === true ? ({ knowsViewers: true } as const) : {};
    return { url: trackingUrl, ...(/^[\w-]{1,100}$/.test(key) ? { key } : opens) };
  }

  /**
   * The answer of the job's page.
   * @param what below its address: `api/v1/live?…`
   * @throws TonyError `NO_ANSWER`
   */
  async ask(applicationId: string, { url, key, knowsViewers }: OwnPage, what: string): Promise<object> {
    if (key === undefined && knowsViewers !== true) throw noAnswer(notAllOfIt);
    const [oldest] = this.#asked;
    if (oldest !== undefined && this.#asked.size >= MOST_ASKED) this.#giveUp(oldest);
    const own = new AbortController();
    this.#asked.add(own);
    const timer = setTimeout(() => this.#giveUp(own), ANSWER_MS).unref();
    try {
      const answer = await this.#http.send(new URL(what, url), {
        method: "GET",
        idleTimeoutMs: IDLE_MS,
        signal: own.signal,
        mayBeOpen: true,
        headers: {
          // The proxy passes on headers that are spelled like this.
          Accept: `application/json${key === undefined ? "" : `; key=${key}`}`,
          // It warns viewers who are not the job's user once: WebAppProxyServlet#checkUser. The portal shows the answer as text.
          Cookie: `checked_${applicationId}=true`,
        },
      });
      const text = await readText(answer, new URL(url).host, MOST_ANSWER_BYTES);
      if (answer.statusCode !== 200) throw new RangeError(`HTTP ${answer.statusCode}`);
      const told = recordOf((value) => value)(JSON.parse(text), "");
      if (told.mayLook === false) throw new RangeError(notAllOfIt);
      return told;
    } catch (error) {
      throw noAnswer(own.signal.aborted ? "it is too slow, and others ask, too" : errorMessage(error), error);
    } finally {
      clearTimeout(timer);
      this.#asked.delete(own);
    }
  }

  #giveUp(one: AbortController): void {
    this.#asked.delete(one);
    one.abort();
  }
}

function noAnswer(why: string, cause?: unknown): TonyError {
  return new TonyError(`Its ApplicationMaster is not asked, or does not answer: ${why}`, { code: "NO_ANSWER", cause });
}
