import type { Cost, Usage } from "../job/cost.ts";

/** A job in the portal's list. */
export interface JobRow {
  readonly applicationId: string;
  readonly name: string;
  readonly user: string;
  /** Who else may see it, as YARN writes it; absent: nobody. */
  readonly viewers?: string;
  readonly queue: string;
  /** `waiting`: its programs have not begun. `unknown`: its history has no end, and YARN has forgotten it. */
  readonly state: "waiting" | "running" | "succeeded" | "failed" | "killed" | "unknown";
  /** When YARN got it; absent: nobody said so. */
  readonly submittedAtMs?: number;
  /** When its ApplicationMaster began. */
  readonly startedAtMs: number;
  readonly endedAtMs?: number;
  readonly tasks: number;
  /** `tony.application.tags`; absent: none. */
  readonly tags?: readonly string[];
  /** Why it failed. */
  readonly cause?: string;
  readonly writtenBy: "tony-ts" | "TonY";
  readonly usage: Usage;
}

/** How far the list is. */
export interface Scan {
  /** Every folder has been looked at once. */
  readonly isComplete: boolean;
  readonly folders: number;
  readonly read: number;
  /** When the last round ended; 0: none has. */
  readonly atMs: number;
  /** Why the last round did not get to its end. */
  readonly trouble?: string;
  /** Jobs of which an earlier portal's word is taken, as long as their days have not changed. */
  readonly restored?: number;
  /** Why what was read is not kept for the next start. */
  readonly keepTrouble?: string;
  /** Why the ResourceManager did not say which jobs still run. */
  readonly yarnTrouble?: string;
  /** Where it looked, where no job was found. */
  readonly emptyPlaces?: readonly string[];
  /** Folders whose history cannot be read, and why; the newest. */
  readonly unreadable: readonly { readonly folder: string; readonly why: string }[];
}

/** `/api/v1/jobs` */
export interface JobsAnswer {
  readonly nowMs: number;
  readonly scan: Scan;
  readonly total: number;
  readonly matching: number;
  readonly from: number;
  readonly rows: readonly JobRow[];
}

/** What jobs held that have ended, as Prometheus' counters have it, too. */
export interface Use {
  readonly jobs: number;
  readonly gibHours: number;
  readonly coreHours: number;
  readonly gpuHours: number;
  /** What of it jobs held that did not succeed. */
  readonly wastedGibHours: number;
  readonly wastedGpuHours: number;
  /** By currency, in the order in which they were met; jobs without prices cost nothing. */
  readonly costs: readonly Cost[];
}

/** `/api/v1/use` */
export interface UseAnswer {
  readonly owners: readonly ({ readonly queue: string; readonly user: string } & Use)[];
  /** The oldest first; days are those of UTC. */
  readonly days: readonly ({ readonly day: string } & Use)[];
}

/** What a job's runs say about its next one. */
export interface ShownAdvice {
  /** By so many. */
  readonly runs: number;
  readonly lines: readonly string[];
  /** Those that are to change: `tony.worker.memory=9g`. */
  readonly settings: readonly string[];
}

/** An event of a job, for people. */
export interface EventLine {
  readonly atMs: number;
  readonly generation: number;
  readonly task?: string;
  readonly text: string;
}

/** `/api/v1/compare`: two jobs side by side. */
export interface Comparison {
  readonly jobs: readonly [ComparedJob, ComparedJob];
  /** Settings that one has and the other has not, or another; absent where a history has none. */
  readonly settings?: readonly Difference[];
  /** How many more there are of these. */
  readonly moreSettings: number;
  readonly roles: readonly {
    readonly name: string;
    readonly of: readonly [ComparedRole | null, ComparedRole | null];
  }[];
  readonly charts: readonly ComparedChart[];
}

export interface ComparedJob {
  readonly applicationId: string;
  readonly name: string;
  readonly user: string;
  readonly queue: string;
  readonly state: JobRow["state"];
  readonly submittedAtMs?: number;
  readonly startedAtMs: number;
  /** Since its ApplicationMaster began. */
  readonly tookMs: number;
  /** Until its programs ran the first time. */
  readonly waitedMs?: number;
  readonly generations: number;
  readonly cause?: string;
  readonly usage: Usage;
}

export interface Difference {
  readonly key: string;
  readonly of: readonly [string | null, string | null];
}

export interface ComparedRole {
  readonly instances: number;
  readonly memoryMiB: number;
  readonly vcores: number;
  /** The most that any of its tasks held. */
  readonly maxMemoryBytes?: number;
  /** Of all its tasks, while something was heard. */
  readonly meanCores?: number;
  /** Per cent. */
  readonly meanGpu?: number;
}

/** A quantity of both jobs, each of the first of its tasks that has it. */
export interface ComparedChart {
  readonly name: string;
  /** Of the points: seconds since the job began, or steps where both report them. */
  readonly axis: "seconds" | "step";
  readonly of: readonly [ComparedLine | null, ComparedLine | null];
}

export interface ComparedLine {
  readonly task: string;
  /** `[x, y]`; no value where nothing was heard. */
  readonly points: readonly (readonly [number, number | null])[];
}
