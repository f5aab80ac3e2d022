import type { JobState } from "../src/job/status.ts";
import type { Timed } from "../src/job/timeline.ts";
import type { EventLine, ShownAdvice } from "../src/page/portal-answers.ts";

/** What the page chose to be shown. */
export interface View {
  from: number;
  sort: "task" | "state" | "host" | "restarts" | "cpu" | "memory" | "gpu" | "step" | "rate";
  descending: boolean;
  filter: string;
  task: string;
}

/** What am/page/live-answer.ts answers. Without `job` nothing has changed. */
export interface Live {
  /** Why there is nothing to show: the portal knows no such job, or its viewer may not see it. */
  readonly error?: string;
  readonly rev: number;
  readonly nowMs: number;
  readonly mayLook?: boolean;
  /** The job has ended: nothing more will come. */
  readonly isFinal?: boolean;
  /** Whoever serves the page has ended, with the job: nothing more can be asked. */
  readonly isClosed?: boolean;
  /** The oldest first. */
  readonly events?: readonly EventLine[];
  /** What there is to read of its logs. */
  readonly logs?: "live" | "stored";
  /** In the portal, of a job that runs and shows no more there than its history has: where it is, and why. */
  readonly running?: { readonly url: string; readonly trouble: string };
  readonly job?: Job;
  readonly status?: Status;
  readonly waits?: readonly Wait[];
  readonly tasks?: Tasks;
  /** In the portal, of a job that has ended. */
  readonly advice?: ShownAdvice;
  readonly feeds?: readonly Feed[];
  readonly search?: Search;
  readonly chart?: Chart;
}

export interface Job {
  readonly applicationId: string;
  readonly attempt: number;
  readonly name: string;
  readonly queue: string;
  readonly user: string;
  readonly state: string;
  readonly startedAtMs: number;
}

export interface Status {
  readonly state: JobState;
  readonly generation: number;
  readonly amHost: string;
  readonly roles: readonly {
    readonly name: string;
    readonly instances: number;
    readonly running: number;
    readonly ended: number;
    readonly memoryMiB: number;
    readonly others?: Readonly<Record<string, number>>;
  }[];
  readonly submittedAtMs?: number;
  readonly generations: Timed["generations"];
  readonly takeovers?: NonNullable<Timed["takeovers"]>;
  readonly services: readonly { readonly name: string; readonly url: string; readonly task: string }[];
  readonly checkpoint?: { readonly step: number };
  readonly outcome?: Outcome;
  readonly use: { readonly held: string; readonly cost?: string };
}

/** What am/page/log-parts.ts answers: what was added to logs. */
export interface LogParts {
  readonly error?: string;
  readonly parts?: readonly LogPart[];
}

export interface LogPart {
  readonly task: string;
  readonly stream: string;
  /** Where it goes on. */
  readonly next: number;
  readonly text: string;
  readonly missingBytes: number;
  readonly containerId?: string;
  readonly trouble?: string;
}

/** What src/page/settings-answer.ts has. */
export interface Config {
  readonly error?: string;
  readonly xml?: string;
}

/** What portal/server.ts answers of a log. */
export interface Log {
  readonly error?: string;
  readonly tasks?: readonly string[];
  readonly lines?: readonly { readonly line: string }[];
  readonly isCut?: boolean;
  readonly missingBytes?: number;
}

export interface Outcome {
  readonly summary: string;
  readonly rule?: string;
  readonly endedAtMs: number;
  readonly cause?: {
    readonly summary: string;
    readonly remedy?: string;
    readonly generation?: number;
    readonly atMs: number;
    readonly lines: readonly string[];
    readonly consequences: readonly string[];
  };
}

interface Wait {
  readonly what: string;
  readonly sinceMs: number;
  readonly reasons: readonly string[];
  readonly remedy?: string;
  readonly endsAtMs?: number;
  readonly atEnd?: string;
}

/** Of its present epoch. */
export interface Feed {
  readonly name: string;
  readonly used: number;
  readonly leftOut: number;
  readonly splits: number;
  readonly lines: readonly string[];
}

export interface Search {
  readonly metric: string;
  /** How it is made, and how many trials it has. */
  readonly rules?: string;
  readonly space: readonly { readonly name: string; readonly values: string }[];
  readonly idle?: string;
  readonly counts: string;
  readonly best?: string;
  /** How many trials have begun. */
  readonly begun: number;
  /** The best ones first; of many those alone. */
  readonly trials: readonly {
    readonly number: number;
    readonly task: string;
    readonly state: string;
    readonly step?: number;
    readonly value: string;
    readonly params: string;
    /** Why it was stopped, or how it failed. */
    readonly why?: string;
  }[];
}

interface Tasks {
  readonly all: number;
  readonly matching: number;
  readonly from: number;
  readonly rows: readonly TaskRow[];
}

export interface TaskRow {
  readonly task: string;
  readonly state: string;
  readonly host?: string;
  readonly restarts: number;
  readonly exit?: string;
  readonly step?: number;
  /** Against the median of its role. */
  readonly rate?: number;
  readonly cpuCores?: number;
  readonly memoryBytes?: number;
  readonly maxMemoryBytes?: number;
  /** Per cent. */
  readonly gpu?: number;
  readonly metrics?: Readonly<Record<string, number>>;
}

export interface Chart {
  readonly task: string;
  readonly fromMs: number;
  readonly spanMs: number;
  readonly series: readonly Series[];
}

export interface Series {
  readonly name: string;
  readonly first: number;
  readonly values: readonly (number | null)[];
}
