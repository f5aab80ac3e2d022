/** `stopReason` of a program whose executor got SIGTERM: its node ends the container, and only YARN knows why. */
export type ContainerToldToEnd = "the container was told to end (SIGTERM)";

/** `stopReason` of a program that its executor stopped for the time it took. */
export type TimeLimitReason = `ran longer than ${number} s (tony.task.executor.execution-timeout-ms)`;

/** `stopReason` of a program that the ApplicationMaster had stopped because it made no progress. */
export type HungReason = `hung: no progress for ${string} at step ${number}`;

/** How a program ended, as its executor saw it. */
export interface ChildExit {
  readonly exitCode: number;
  /** `SIGKILL`, …; empty when it exited. */
  readonly signal: string;
  readonly atMs: number;
  /** Why the executor stopped it; empty when it ended by itself. */
  readonly stopReason: string;
  readonly failedToStart: boolean;
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
