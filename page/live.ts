import type { JobState } from "../src/job/status.ts";
import type { Timed } from "../src/job/timeline.ts";
import type { EventLine, ShownAdvice } from "../src/page/portal-answers.ts";

/** What the viewer has chosen to see. */
export interface View {
  from: number;
  sort: "task" | "state" | "host" | "restarts" | "cpu" | "memory" | "gpu" | "step" | "rate";
  descending: boolean;
  filter: string;
  task: string;
}

/** The answer of src/page/live-answer.ts. Without `job` nothing has changed. */
export interface Live {
  /** Why there is nothing to show: the portal does not know the job, or its viewer may not see it. */
  readonly error?: string;
  readonly rev: number;
  readonly nowMs: number;
  readonly mayLook?: boolean;
  /** The job has ended: nothing more will follow. */
  readonly isFinal?: boolean;
  /** The server of the page has ended with the job: nothing more can be requested. */
  readonly isClosed?: boolean;
  /** The oldest first. */
  readonly events?: readonly EventLine[];
  /** Which logs can be read. */
  readonly logs?: "live" | "stored";
  /** In the portal, for a running job of which it can only show the history: where the job's page is, and why. */
  readonly running?: { readonly url: string; readonly trouble: string };
  readonly job?: Job;
  readonly status?: Status;
  readonly waits?: readonly Wait[];
  readonly tasks?: Tasks;
  /** In the portal, for a job that has ended. */
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

/** The answer of am/page/log-parts.ts: what was appended to logs. */
export interface LogParts {
  readonly error?: string;
  readonly parts?: readonly LogPart[];
}

export interface LogPart {
  readonly task: string;
  readonly stream: string;
  /** The position to continue from. */
  readonly next: number;
  readonly text: string;
  readonly missingBytes: number;
  readonly containerId?: string;
  readonly trouble?: string;
}

/** The answer of src/page/answers.ts. */
export interface Config {
  readonly error?: string;
  readonly xml?: string;
}

/** The answer of portal/server.ts about a log. */
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

/** Of its current epoch. */
export interface Feed {
  readonly name: string;
  readonly used: number;
  readonly leftOut: number;
  readonly splits: number;
  readonly lines: readonly string[];
}

export interface Search {
  readonly metric: string;
  /** How the search chooses trials, and how many it has. */
  readonly rules?: string;
  readonly space: readonly { readonly name: string; readonly values: string }[];
  readonly idle?: string;
  readonly counts: string;
  readonly best?: string;
  /** How many trials have begun. */
  readonly begun: number;
  /** The best ones first; where there are many, only those. */
  readonly trials: readonly {
    readonly number: number;
    readonly task: string;
    readonly state: string;
    readonly step?: number;
    readonly value: string;
    readonly params: string;
    /** Why it was stopped or failed. */
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
  /** Relative to the median of its role. */
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
