import type { Cost, Usage } from "../job/cost.ts";

/** A job in the portal's list. */
export interface JobRow {
  readonly applicationId: string;
  readonly name: string;
  readonly user: string;
  /** Who else may see it, in YARN's format; absent: nobody. */
  readonly viewers?: string;
  readonly queue: string;
  /** `waiting`: its programs have not begun. `unknown`: its history has no end, and YARN has forgotten it. */
  readonly state: "waiting" | "running" | "succeeded" | "failed" | "killed" | "unknown";
  /** When YARN accepted it; absent: unknown. */
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

/** The progress of the list. */
export interface Scan {
  /** Whether every folder has been scanned once. */
  readonly isComplete: boolean;
  readonly folders: number;
  readonly read: number;
  /** When the last round ended; 0: none has. */
  readonly atMs: number;
  /** Why the last scan failed. */
  readonly trouble?: string;
  /** Jobs taken over from an earlier portal, as long as their days have not changed. */
  readonly restored?: number;
  /** Why nothing can be stored for the next start. */
  readonly keepTrouble?: string;
  /** Why the ResourceManager did not say which jobs still run. */
  readonly yarnTrouble?: string;
  /** The scanned folders, where no job was found. */
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

/** What ended jobs held; Prometheus' counters have the same figures. */
export interface Use {
  readonly jobs: number;
  readonly gibHours: number;
  readonly coreHours: number;
  readonly gpuHours: number;
  /** The part of it that was held by jobs that did not succeed. */
  readonly wastedGibHours: number;
  readonly wastedGpuHours: number;
  /** By currency, in the order of their first use; jobs without prices cost nothing. */
  readonly costs: readonly Cost[];
}

/** `/api/v1/use` */
export interface UseAnswer {
  readonly owners: readonly ({ readonly queue: string; readonly user: string } & Use)[];
  /** The oldest first; days are those of UTC. */
  readonly days: readonly ({ readonly day: string } & Use)[];
}

/** What a job's runs suggest for its next one. */
export interface ShownAdvice {
  /** The number of runs. */
  readonly runs: number;
  readonly lines: readonly string[];
  /** Settings to change: `tony.worker.memory=9g`. */
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
  /** Settings that differ, or that only one of the jobs has; absent where a history has none. */
  readonly settings?: readonly Difference[];
  /** How many further differences there are. */
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
  /** The time until its programs first ran. */
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
  /** The peak of any of its tasks. */
  readonly maxMemoryBytes?: number;
  /** The sum over its tasks, averaged over the time with measurements. */
  readonly meanCores?: number;
  /** Per cent. */
  readonly meanGpu?: number;
}

/** One quantity of both jobs; for each job, of the first task that has it. */
export interface ComparedChart {
  readonly name: string;
  /** The points' x values: seconds since the job began, or steps where both report them. */
  readonly axis: "seconds" | "step";
  readonly of: readonly [ComparedLine | null, ComparedLine | null];
}

export interface ComparedLine {
  readonly task: string;
  /** `[x, y]`; null where there is no value. */
  readonly points: readonly (readonly [number, number | null])[];
}
