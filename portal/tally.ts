import type { JobRow } from "../src/page/portal-answers.ts";

/** Totals of the jobs with one owner and end. */
export interface Tally {
  readonly user: string;
  readonly queue: string;
  /** Who else may know of them, in YARN's format. */
  readonly viewers?: string;
  readonly state: JobRow["state"];
  readonly currency: string;
  readonly jobs: number;
  readonly ms: number;
  readonly memoryMiBSeconds: number;
  readonly vcoreSeconds: number;
  readonly gpuSeconds: number;
  /** Undefined: they had no prices. */
  readonly cost?: number;
}

/** Whether a job has not ended, as far as is known. */
export function isUnfinished(state: JobRow["state"]): boolean {
  return state === "waiting" || state === "running";
}

export function tallyOf({ user, queue, viewers, state, startedAtMs, endedAtMs = startedAtMs, usage }: JobRow): Tally {
  const { memoryMiBSeconds, vcoreSeconds, gpuSeconds = 0, cost } = usage;
  return {
    user,
    queue,
    ...(viewers === undefined ? {} : { viewers }),
    state,
    currency: cost?.currency ?? "",
    jobs: 1,
    ms: endedAtMs - startedAtMs,
    memoryMiBSeconds,
    vcoreSeconds,
    gpuSeconds,
    ...(cost === undefined ? {} : { cost: cost.amount }),
  };
}

/** Tallies with the same key are added up. */
export function keyOf({ user, queue, viewers = "", state, currency, cost }: Tally): string {
  return JSON.stringify([user, queue, viewers, state, currency, cost === undefined]);
}

export function sumOf(one: Tally, other: Tally): Tally {
  return {
    ...one,
    jobs: one.jobs + other.jobs,
    ms: one.ms + other.ms,
    memoryMiBSeconds: one.memoryMiBSeconds + other.memoryMiBSeconds,
    vcoreSeconds: one.vcoreSeconds + other.vcoreSeconds,
    gpuSeconds: one.gpuSeconds + other.gpuSeconds,
    ...(one.cost === undefined || other.cost === undefined ? {} : { cost: one.cost + other.cost }),
  };
}
