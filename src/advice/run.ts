import type { TaskSeries } from "../history/series/table.ts";
import type { JobStatus, TaskStatus } from "../job/status.ts";

/** What is known of one run of a job. */
export interface Run {
  /** Its last, or that of now. */
  readonly status: JobStatus;
  /** When the cluster took it. */
  readonly submittedAtMs: number;
  /** What its tasks used over time, where its history has that. */
  readonly series?: RunSeries;
}

/** Of a file of the history, or of its ApplicationMaster. */
export interface RunSeries {
  readonly axis: { readonly spanMs: number };
  readonly rows: readonly RunRow[];
}

export interface RunRow {
  readonly task: string;
  readonly series: readonly TaskSeries[];
}

/** Below this a program may not have reached what it needs. */
const LEAST_RUN_MS = 60_000;
/** One run of so long, or so many runs, tell what the next one needs; fewer only where by far too much is asked for. */
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

/** How long programs of a role ran, in their last life. */
export function ranMs(run: Run, role: string): number {
  const lives = tasksOf(run, role).map(({ startedAtMs, endedAtMs }) =>
    startedAtMs === undefined ? 0 : (endedAtMs ?? endOf(run)) - startedAtMs,
  );
  return Math.max(0, ...lives);
}

/** Those whose programs came to their end, or ran for long: one that broke early used less than the next one will. */
export function tellingRuns(runs: readonly Run[], role: string): readonly Run[] {
  return runs.filter((run) => {
    const ran = ranMs(run, role);
    return ran >= LEAST_RUN_MS && (run.status.outcome?.result === "succeeded" || ran >= FIRM_RUN_MS);
  });
}

/** Whether such runs tell enough to ask for a little less. */
export function areFirm(telling: readonly Run[], role: string): boolean {
  const ran = telling.reduce((sum, run) => sum + ranMs(run, role), 0);
  return telling.length >= FIRM_RUNS || ran >= FIRM_RUN_MS;
}
