import { monotonicClock, type WallClock, within } from "../../src/hadoop/clock.ts";
import { programSecretsIn } from "../../src/job/launch/program-secrets.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import type { Log } from "../../src/log.ts";
import { JobNotices } from "./job-notices.ts";
import { MlflowRuns } from "./mlflow.ts";
import { OtlpMetrics } from "./otlp.ts";
import type { Outlet } from "./outlet.ts";

export interface OutletsOptions {
  readonly job: Pick<JobFile, "spec" | "user">;
  /** The secrets that YARN gave this attempt. */
  readonly secrets: ReadonlyMap<string, Uint8Array>;
  readonly rateOf: (task: string) => number | undefined;
  readonly clock: Pick<WallClock, "nowMs">;
  readonly log: Log;
}

const LOOK_MS = 5_000;
const FIRST_MS = 1_000;

/** The external systems that the job's keys name. */
export class Outlets {
  readonly #outlets: readonly Outlet[];
  /** The outlet whose run the job's programs share. */
  readonly #shared: MlflowRuns | undefined;
  readonly #clock: OutletsOptions["clock"];
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: OutletsOptions) {
    this.#clock = options.clock;
    this.#outlets = outletsOf(options);
    const { am, search } = options.job.spec;
    const mlflow = this.#outlets.find((outlet) => outlet instanceof MlflowRuns);
    this.#shared = am.mlflowShared === true && search === undefined ? mlflow : undefined;
  }

  /**
   * The variables that tell programs of these systems; to be called before any program starts. It waits a second at
   * most.
   */
  async variables(statusOf: () => JobStatus): Promise<Readonly<Record<string, string>>> {
    if (this.#shared === undefined) return {};
    await within(FIRST_MS, this.#shared.told(statusOf()));
    return this.#shared.variables;
  }

  /** To be called regularly; the status is made only when it is looked at. */
  look(statusOf: () => JobStatus): void {
    const nowMs = this.#clock.nowMs();
    if (this.#outlets.length === 0 || nowMs - this.#lookedAtMs < LOOK_MS) return;
    this.#lookedAtMs = nowMs;
    const status = statusOf();
    for (const outlet of this.#outlets) outlet.look(status);
  }

  /** Resolves when everything is sent or given up. @param status with the outcome */
  async end(status: JobStatus, limitMs: number): Promise<void> {
    const endOf = async (outlet: Outlet) => {
      if (!(await within(limitMs, outlet.end(status)))) outlet.giveUp();
    };
    await Promise.all(this.#outlets.map(endOf));
  }
}

function outletsOf({ job, secrets, rateOf, clock, log }: OutletsOptions): Outlet[] {
  const { spec, user } = job;
  const { notifyUrl, mlflowUrl, mlflowExperiment = spec.name, otlpUrl } = spec.am;
  const variables = programSecretsIn(secrets);
  const shared = {
    user,
    variables,
    clock: { nowMs: () => clock.nowMs(), random: () => monotonicClock.random() },
  };
  const warnOf = (system: string) => ({
    warn: (message: string) => log.warn("outlet-lost", `${system} is not told of the job: ${message}`),
  });
  return [
    ...(notifyUrl === undefined ? [] : [new JobNotices({ job, url: notifyUrl, secrets, rateOf, clock, log })]),
    ...(mlflowUrl === undefined
      ? []
      : [
          new MlflowRuns({
            ...shared,
            ...warnOf("MLflow (tony.mlflow.url)"),
            url: mlflowUrl,
            experiment: mlflowExperiment,
            leadTask: spec.leadTask,
          }),
        ]),
    ...(otlpUrl === undefined
      ? []
      : [new OtlpMetrics({ ...shared, ...warnOf("The collector (tony.otlp.url)"), url: otlpUrl })]),
  ];
}
