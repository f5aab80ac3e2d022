import { readFile } from "node:fs/promises";
import { type ApplicationIdentity, clientAccess, pageKey } from "../../src/api/identity.ts";
import type { WallClock } from "../../src/hadoop/clock.ts";
import { formatHostPort } from "../../src/hadoop/conf/values.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { jobGauges, taskGauges } from "../../src/job/gauges.ts";
import { PAGE_NAME } from "../../src/job/launch/container-names.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { listeningAddress } from "../../src/listening.ts";
import type { Log } from "../../src/log.ts";
import { settingsAnswer } from "../../src/page/answers.ts";
import { liveAnswer } from "../../src/page/live-answer.ts";
import type { JobSeries } from "../executors/job-series.ts";
import type { MasterSettings } from "../settings.ts";
import type { JobHistory } from "../storage/history.ts";
import { type LogPart, type ReadLog, readParts } from "./log-parts.ts";
import { PageDoor } from "./page-door.ts";

export interface JobPageOptions {
  readonly job: Pick<JobFile, "spec" | "user">;
  readonly settings: Pick<MasterSettings, "host">;
  readonly identity: ApplicationIdentity;
  readonly series: Pick<JobSeries, "rateOf" | "seriesOf">;
  readonly history: Pick<JobHistory, "lastEvents" | "settings">;
  readonly readLog: ReadLog;
  readonly status: () => JobStatus;
  readonly clock: Pick<WallClock, "nowMs">;
  readonly log: Log;
  /** Where it is; only tests set it. */
  readonly file?: string;
}

/** Many viewers cost no more than one. */
const STATUS_MS = 1_000;

/**
 * Serves the job's page until this process ends.
 * @returns its address, which YARN's proxy fetches; undefined where it cannot be served, which the log says: no job fails for it
 */
export async function openJobPage(options: JobPageOptions): Promise<string | undefined> {
  const { job, settings, identity, series, history, clock, log, file = PAGE_NAME } = options;
  const { host } = settings;
  const status = remembered(options.status, clock);
  try {
    const door = new PageDoor({
      html: await readFile(file),
      key: pageKey(clientAccess(identity)),
      answer: (request, mayLook) =>
        liveAnswer(
          status(),
          {
            user: job.user,
            rateOf: (task) => series.rateOf(task),
            seriesOf: (task) => series.seriesOf(task),
            events: history.lastEvents,
            logs: "live",
          },
          request,
          mayLook,
        ),
      readLogs: async (readings) => ({ parts: (await readParts(readings, options.readLog)).map(placed(status())) }),
      settings: async () => settingsAnswer(await history.settings()),
      gauges: (ofTasks) => ({
        gauges: jobGauges(status()).map(({ name, points }) => ({ name, points })),
        ...(ofTasks ? { tasks: taskGauges(status()) } : {}),
      }),
    });
    const port = await door.listen({
      host: listeningAddress(host),
      ...(job.spec.ports.am === undefined ? {} : { ports: job.spec.ports.am }),
      portKey: "tony.am.port-range",
      random: Math.random,
    });
    log.info("page-served", `The job's page is served on ${formatHostPort({ host, port })}.`);
    return `http://${formatHostPort({ host, port })}/`;
  } catch (error) {
    log.warn("page-failed", `The job's page cannot be served: ${errorMessage(error)}`);
    return undefined;
  }
}

/** With the container that the task has, so that a page notices when it is another one, whose log has a beginning of its own. */
function placed({ tasks }: JobStatus) {
  return (part: LogPart) => ({ ...part, containerId: tasks.find(({ task }) => task === part.task)?.containerId });
}

function remembered(status: () => JobStatus, clock: Pick<WallClock, "nowMs">): () => JobStatus {
  let known: JobStatus | undefined;
  let atMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = clock.nowMs();
    if (known === undefined || nowMs - atMs >= STATUS_MS) [known, atMs] = [status(), nowMs];
    return known;
  };
}
