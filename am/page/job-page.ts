import { readFile } from "node:fs/promises";
import { type ApplicationIdentity, clientAccess, pageKey } from "../../src/api/identity.ts";
import type { WallClock } from "../../src/hadoop/clock.ts";
import { formatHostPort } from "../../src/hadoop/conf/values.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { jobGauges, taskGauges } from "../../src/job/gauges.ts";
import { PAGE_NAME } from "../../src/job/launch/container-names.ts";
import { opensByKey } from "../../src/job/spec.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { listeningAddress } from "../../src/listening.ts";
import type { Log } from "../../src/log.ts";
import { settingsAnswer } from "../../src/page/answers.ts";
import { liveAnswer } from "../../src/page/live-answer.ts";
import { runAnswer } from "../../src/page/run-answer.ts";
import type { JobSeries } from "../executors/job-series.ts";
import type { MasterSettings } from "../settings.ts";
import type { JobHistory } from "../storage/history.ts";
import { type LogPart, type ReadLog, readParts } from "./log-parts.ts";
import { PageAnswers } from "./page-answers.ts";
import { pageCertificate } from "./page-certificate.ts";
import { PageDoor } from "./page-door.ts";

type MaySee = (user: string) => Promise<boolean>;

export interface JobPageOptions {
  readonly job: Pick<JobFile, "roundings" | "spec" | "user">;
  readonly settings: Pick<MasterSettings, "host" | "keyStore">;
  /** Whether the cluster is secured. */
  readonly isSecured: boolean;
  readonly identity: ApplicationIdentity;
  /**
   * Whether a user may see the job; absent: the ResourceManager's web server believes what viewers call themselves, so their names prove
   * nothing.
   */
  readonly maySee?: MaySee;
  readonly series: Pick<JobSeries, "seriesOf">;
  readonly history: Pick<JobHistory, "lastEvents" | "settings">;
  readonly readLog: ReadLog;
  readonly status: () => JobStatus;
  readonly clock: Pick<WallClock, "nowMs">;
  readonly log: Log;
  /** The page's file; only tests set it. */
  readonly file?: string;
}

/** Many viewers cost no more than one. */
const STATUS_MS = 1_000;
/** Looking up a user's groups starts a process. */
const RIGHTS_MS = 60_000;

/** The job's page: its answers, and its door for YARN's proxy. */
export class JobPage {
  /**
   * The key that shows all of it to viewers who come through YARN's proxy; undefined: nobody is shown more there than YARN shows everybody.
   */
  readonly key: string | undefined;
  readonly #options: JobPageOptions;
  readonly #answers: PageAnswers;
  #known: JobStatus | undefined;
  #knownAtMs = 0;

  constructor(options: JobPageOptions) {
    this.#options = options;
    const { job, identity, series, history, isSecured } = options;
    const status = () => this.#status();
    this.key = opensByKey(job.spec.am, isSecured) ? pageKey(clientAccess(identity)) : undefined;
    this.#answers = new PageAnswers({
      live: (request, mayLook) =>
        liveAnswer(
          status(),
          {
            user: job.user,
            seriesOf: (task) => series.seriesOf(task),
            events: history.lastEvents,
            logs: "live",
          },
          request,
          mayLook,
        ),
      readLogs: async (readings) => ({ parts: (await readParts(readings, options.readLog)).map(placed(status())) }),
      run: () => runAnswer(status(), (task) => series.seriesOf(task), job.roundings, job.spec.am),
      settings: async () => settingsAnswer(await history.settings()),
      gauges: (ofTasks) => ({
        gauges: jobGauges(status()).map(({ name, points }) => ({ name, points })),
        ...(ofTasks ? { tasks: taskGauges(status()) } : {}),
      }),
    });
  }

  /** The job has ended; viewers see that at once. */
  ended(): void {
    this.#known = undefined;
  }

  #status(): JobStatus {
    const { status, clock } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#known !== undefined && nowMs - this.#knownAtMs < STATUS_MS) return this.#known;
    this.#knownAtMs = nowMs;
    this.#known = status();
    return this.#known;
  }

  /** The answer for somebody who may see the job, as JSON. @param path below `api/v1/`, with its query */
  async ask(path: string): Promise<string> {
    const [what = "", query = ""] = path.split("?");
    return JSON.stringify((await this.#answers.answer(what, new URLSearchParams(query), true)).body);
  }

  /**
   * Serves it until this process ends.
   * @returns its address, which YARN's proxy fetches; undefined where it cannot be served, which is logged: no job fails because of that
   */
  async open(): Promise<string | undefined> {
    const { job, settings, maySee, clock, log, file = PAGE_NAME } = this.#options;
    const { host, keyStore } = settings;
    try {
      const certificate = keyStore && pageCertificate(await readFile(keyStore.file), keyStore.password);
      const door = new PageDoor({
        html: await readFile(file),
        key: this.key,
        answers: this.#answers,
        ...(certificate && {
          proxy: { certificate, maySee: maySee ? rememberedRights(maySee, clock) : async () => false },
        }),
      });
      const port = await door.listen({
        host: listeningAddress(host),
        ...(job.spec.ports.am === undefined ? {} : { ports: job.spec.ports.am }),
        portKey: "tony.am.port-range",
        random: Math.random,
      });
      log.info("page-served", `The job's page is served on ${formatHostPort({ host, port })}.`);
      return `${certificate ? "https" : "http"}://${formatHostPort({ host, port })}/`;
    } catch (error) {
      log.warn("page-failed", `The job's page cannot be served: ${errorMessage(error)}`);
      return undefined;
    }
  }
}

/** Adds the task's container, so that a page notices when that changes and the log begins anew. */
function placed({ tasks }: JobStatus) {
  return (part: LogPart) => ({ ...part, containerId: tasks.find(({ task }) => task === part.task)?.containerId });
}

function rememberedRights(maySee: MaySee, clock: Pick<WallClock, "nowMs">): MaySee {
  const known = new Map<string, Promise<boolean>>();
  let sinceMs = clock.nowMs();
  return (user) => {
    const nowMs = clock.nowMs();
    if (nowMs - sinceMs >= RIGHTS_MS) {
      known.clear();
      sinceMs = nowMs;
    }
    const right = known.get(user) ?? maySee(user);
    known.set(user, right);
    return right;
  };
}
