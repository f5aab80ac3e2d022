import type { NamedPorts } from "./cluster-spec.ts";
import type { StopReason } from "./reasons/stops.ts";

/**
 * Why a program that goes on with whoever is there gave up: the others had closed their meeting (`closed`), or nobody was where they meet
 * (`empty`).
 */
export type MissedMeeting = "closed" | "empty";

/**
 * What an exception followed from: the first of its chain, raised on purpose from it (`cause`) or while it was handled (`context`), or that of
 * the child which it only says has failed.
 */
export interface ErrorOrigin {
  readonly how: "cause" | "context" | "child";
  readonly error: string;
}

/** What a program did not find, and what its container's working directory has like it. */
/** Of an end's traceback and of each of its errors: with its last lines they fit into a message (MOST_REQUEST_BYTES). */
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
  /** It exited with the code by which a shell tells of a child that the signal ended; a program may exit with that code by itself. */
  readonly signalOfChild: boolean;
  readonly atMs: number;
  /** Why its executor stopped it; absent when it ended by itself. */
  readonly stopReason?: StopReason;
  readonly failedToStart: boolean;
  /** It failed to start because the operating system refused, such as by ENOMEM: another start may succeed. */
  readonly refusedBySystem: boolean;
  readonly lastLines: readonly string[];
  /** The last Python traceback; of a program that hung, the stack of its main thread. */
  readonly traceback: string;
  /** The exception that it ended by: nobody caught it. Of one that was stopped: it had raised that before, and was still going. */
  readonly errorSummary: string;
  /** Absent: it followed from none. */
  readonly errorOrigin?: ErrorOrigin;
  /** An exception that it wrote of, where that may have been caught: it exited with another code, or wrote on. */
  readonly saidBefore?: string;
  /** When it wrote of the exception that it ended by; its process may go on for a while. */
  readonly failedAtMs?: number;
  /** Absent: it did not end for want of a file or module, or nothing is like that. */
  readonly misnamed?: Misnamed;
  readonly peerConnectionLost: boolean;
  /** Absent: it says nothing of that. */
  readonly missedMeeting?: MissedMeeting;
  /** It could not open a port that was held for it: another program was quicker. */
  readonly portTaken: boolean;
  readonly outOfMemory: boolean;
  readonly peakMemoryBytes: number;
}

/** Word that YARN, or whoever operates the cluster, takes a container back. */
export interface Notice {
  readonly cause: "preemption" | "decommissioning";
  readonly atMs: number;
  /** When the program is stopped if it has not ended by then; absent where nobody says. */
  readonly endsAtMs?: number;
}

export interface Checkpoint {
  readonly path: string;
  readonly step: number;
  readonly atMs: number;
}

/** What a program said of its progress. */
export interface ChildProgress {
  readonly step: number;
  readonly atMs: number;
  /** The newest complete one, whichever report said so first. */
  readonly checkpoint?: Checkpoint;
  /** The last value of each that the program reported, by name; absent: nothing new. */
  readonly metrics?: Readonly<Record<string, number>>;
  /** Of those that it reported last at another step: that step. */
  readonly metricSteps?: Readonly<Record<string, number>>;
}

/** What an executor says of its program when it registers. */
export type ChildReport =
  | { readonly state: "none" }
  | ({ readonly state: "running"; readonly pid: number; readonly startedAtMs: number } & Suspended)
  | ({ readonly state: "exited"; readonly exit: ChildExit } & Suspended);

interface Suspended {
  /** How long it was suspended because its executor was cut off, without what the ApplicationMaster has been told before. */
  readonly suspendedMs?: number;
}

export interface ExecutorRegistration {
  readonly task: string;
  readonly containerId: string;
  readonly generation: number;
  readonly host: string;
  /** Reserved for the child; 0 while one runs. */
  readonly port: number;
  /** Reserved for it, too; absent while it runs, and where its role names none. */
  readonly ports?: NamedPorts;
  readonly tensorboardPort: number;
  readonly rejoinAddress: string;
  /** How long its process has run. */
  readonly upMs?: number;
  readonly child: ChildReport;
  /** What its program reported last: whoever hears how it has ended hears that first. */
  readonly progress?: ChildProgress;
}

/** Where a task's program stands. */
export interface TaskPlace {
  /** `in all_reduce train.py:27` */
  readonly where: string;
  /** It waits there for the other tasks, in an exchange of data between all of them. */
  readonly isExchange: boolean;
  /** The innermost calls of its main thread, innermost first. */
  readonly lines: readonly string[];
}
