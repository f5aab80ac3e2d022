import type { NamedPorts } from "./cluster-spec.ts";
import type { StopReason } from "./reasons/stops.ts";

/**
 * Why a program that runs with a changing set of tasks gave up: the others had closed their meeting (`closed`), or nobody was where they
 * meet (`empty`).
 */
export type MissedMeeting = "closed" | "empty";

/**
 * The origin of an exception: the first of its chain, from which it was raised on purpose (`cause`) or during whose handling it was raised
 * (`context`), or the exception of the child whose failure it reports.
 */
export interface ErrorOrigin {
  readonly how: "cause" | "context" | "child";
  readonly error: string;
}

/** What a program did not find, and what its container's working directory has like it. */
/** For an end's traceback and for each of its errors: with the last lines they fit into a message (MOST_REQUEST_BYTES). */
export const MOST_TRACEBACK_BYTES = 65_536;
export const MOST_SUMMARY_BYTES = 8_192;

export interface Misnamed {
  readonly kind: "file" | "module";
  readonly missing: string;
  readonly found: string;
}

/** How a program ended, as its executor saw it. */
export interface ChildExit {
  readonly exitCode: number;
  /** `SIGKILL`, …; empty when it exited. */
  readonly signal: string;
  /** It exited with the code that a shell uses for a child ended by the signal; a program may also choose that code itself. */
  readonly signalOfChild: boolean;
  readonly atMs: number;
  /** Why its executor stopped it; absent when it ended by itself. */
  readonly stopReason?: StopReason;
  readonly failedToStart: boolean;
  /** It did not start because the operating system refused, for example with ENOMEM: another start may succeed. */
  readonly refusedBySystem: boolean;
  readonly lastLines: readonly string[];
  /** The last Python traceback; for a program that hung, the stack of its main thread. */
  readonly traceback: string;
  /** The uncaught exception that ended it. For a program that was stopped: it had raised the exception before, and was still running. */
  readonly errorSummary: string;
  /** Absent: it has no other origin. */
  readonly errorOrigin?: ErrorOrigin;
  /** An exception that it printed and may have caught: it exited with another code, or kept on writing. */
  readonly saidBefore?: string;
  /** When it printed the exception that ended it; its process may go on for a while. */
  readonly failedAtMs?: number;
  /** Absent: it did not end because of a missing file or module, or nothing has a similar name. */
  readonly misnamed?: Misnamed;
  readonly peerConnectionLost: boolean;
  /** Absent: its output does not say so. */
  readonly missedMeeting?: MissedMeeting;
  /** Whether it could not open a port that was held for it, because another program was quicker. */
  readonly portTaken: boolean;
  readonly outOfMemory: boolean;
  readonly peakMemoryBytes: number;
}

/** An announcement by YARN, or by the cluster's operator, that a container is taken back. */
export interface Notice {
  readonly cause: "preemption" | "decommissioning";
  readonly atMs: number;
  /** When the program is stopped if it has not ended by then; absent where that is unknown. */
  readonly endsAtMs?: number;
}

export interface Checkpoint {
  readonly path: string;
  readonly step: number;
  readonly atMs: number;
}

/** A program's reports of its progress. */
export interface ChildProgress {
  readonly step: number;
  readonly atMs: number;
  /** The newest complete checkpoint, whichever report named it first. */
  readonly checkpoint?: Checkpoint;
  /** The last value of each metric that the program reported, by name; absent: nothing new. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** The step of those values that were last reported at another step. */
  readonly metricSteps?: Readonly<Record<string, number>>;
}

/** What an executor reports of its program when it registers. */
export type ChildReport =
  | { readonly state: "none" }
  | ({ readonly state: "running"; readonly pid: number; readonly startedAtMs: number } & Suspended)
  | ({ readonly state: "exited"; readonly exit: ChildExit } & Suspended);

interface Suspended {
  /** How long it was suspended because its executor was cut off, not counting what the ApplicationMaster already knows. */
  readonly suspendedMs?: number;
}

export interface ExecutorRegistration {
  readonly task: string;
  readonly containerId: string;
  readonly generation: number;
  readonly host: string;
  /** The port reserved for the child; 0 while one runs. */
  readonly port: number;
  /** Further ports reserved for it; absent while it runs, and where its role names none. */
  readonly ports?: NamedPorts;
  readonly tensorboardPort: number;
  readonly rejoinAddress: string;
  /** How long its process has run. */
  readonly upMs?: number;
  readonly child: ChildReport;
  /** Its program's last report: the receiver learns this before how the program ended. */
  readonly progress?: ChildProgress;
}

/** Where a task's program is in its code. */
export interface TaskPlace {
  /** `in all_reduce train.py:27` */
  readonly where: string;
  /** Whether it waits there for the other tasks, in a data exchange between all of them. */
  readonly isExchange: boolean;
  /** The innermost calls of its main thread, innermost first. */
  readonly lines: readonly string[];
}
