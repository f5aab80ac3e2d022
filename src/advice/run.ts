import type { TaskSeries } from "../history/series/table.ts";
import type { JobStatus, TaskStatus } from "../job/status.ts";

/** The facts known about one run of a job. */
export interface Run {
  /** Its last status, or the current one. */
  readonly status: JobStatus;
  /** When the cluster accepted it. */
  readonly submittedAtMs: number;
  /** What its tasks used over time, where its history has that. */
  readonly series?: RunSeries;
}

/** From a file of the history, or from its ApplicationMaster. */
export interface RunSeries {
  readonly axis: { readonly spanMs: number };
  readonly rows: readonly RunRow[];
}

export interface RunRow {
  readonly task: string;
  readonly series: readonly TaskSeries[];
}

/** A program that ran for less may not have reached its full needs. */
const LEAST_RUN_MS = 60_000;
/** One run of this length, or this many runs, show what the next one needs; fewer suffice only where the request is far too large. */
const FIRM_RUN_MS = 600_000;
const FIRM_RUNS = 3;

export function endOf({ status }: Run): number {
  return status.outcome?.endedAtMs ?? status.nowMs;
}

export function tasksOf({ status }: Run, role: string): readonly TaskStatus[] {
  return status.tasks.filter(({ task }) => isOfRole(task, role));
}

export function rowsOf({ series }: Run, role: string): readonly RunRow[] {
  return series?.rows.filter(({ task }) => isOfRole(task, role)) ?? [];
}

function isOfRole(task: string, role: string): boolean {
  return task.startsWith(`${role}:`);
}

/** How long a role's programs ran in their last life. */
export function ranMs(run: Run, role: string): number {
  const lives = tasksOf(run, role).map(({ startedAtMs, endedAtMs }) =>
    startedAtMs === undefined ? 0 : (endedAtMs ?? endOf(run)) - startedAtMs,
  );
  return Math.max(0, ...lives);
}

/** Runs whose programs ended by themselves, or ran for long: a program that failed early used less than the next one will. */
export function tellingRuns(runs: readonly Run[], role: string): readonly Run[] {
  return runs.filter((run) => {
    const ran = ranMs(run, role);
    return ran >= LEAST_RUN_MS && (run.status.outcome?.result === "succeeded" || ran >= FIRM_RUN_MS);
  });
}

/** Whether these runs are enough evidence to ask for a little less. */
export function areFirm(telling: readonly Run[], role: string): boolean {
  const ran = telling.reduce((sum, run) => sum + ranMs(run, role), 0);
  return telling.length >= FIRM_RUNS || ran >= FIRM_RUN_MS;
}
