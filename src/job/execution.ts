import type { StopReason } from "./reasons/stops.ts";

/** How a program ended, as its executor saw it. */
export interface ChildExit {
  readonly exitCode: number;
  /** `SIGKILL`, …; empty when it exited. */
  readonly signal: string;
  readonly atMs: number;
  /** Why its executor stopped it; absent when it ended by itself. */
  readonly stopReason?: StopReason;
  readonly failedToStart: boolean;
  /** It failed to start because the operating system refused, such as by ENOMEM: another start may succeed. */
  readonly refusedBySystem: boolean;
  readonly lastLines: readonly string[];
  /** The last Python traceback; of a program that hung, where its main thread stood. */
  readonly traceback: string;
  readonly errorSummary: string;
  readonly peerConnectionLost: boolean;
  readonly outOfMemory: boolean;
  readonly peakMemoryBytes: number;
}

/** What runs or ran under an executor, as it says on (re)connecting. */
export type ChildReport =
  | { readonly state: "none" }
  | {
      readonly state: "running";
      readonly pid: number;
      readonly startedAtMs: number;
      /** How long its executor, cut off from everybody, kept it suspended: what the ApplicationMaster does not know of yet. */
      readonly suspendedMs?: number;
    }
  | { readonly state: "exited"; readonly exit: ChildExit };

export interface ExecutorRegistration {
  readonly task: string;
  readonly containerId: string;
  readonly generation: number;
  readonly host: string;
  /** Reserved for the child; 0 while one runs. */
  readonly port: number;
  readonly tensorboardPort: number;
  readonly rejoinAddress: string;
  readonly child: ChildReport;
}
