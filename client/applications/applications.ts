import type { ClientAccess } from "../../src/api/identity.ts";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { ApplicationFilter } from "../../src/hadoop/yarn/submission.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { LogStore } from "../../src/logs/log-store.ts";

export { hasEnded } from "../../src/job/outcome.ts";

/** Where one attempt's AM can be reached, and what it and the client prove their identity with. */
export interface MasterContact {
  readonly attempt: number;
  readonly host: string;
  readonly port: number;
  readonly access: ClientAccess;
}

/** A folder of the job's own, or the settings that say which of the shared folders its history is in. */
export type KeptHistory = { readonly folder: string } | { readonly settings: JobSpec["history"] };

/** The source that knows applications by their ids: a cluster's ResourceManager, or this machine. */
export interface Applications {
  /** The user who asks. */
  readonly user: string;
  /** Throws an error with code `APPLICATION_NOT_FOUND` when the id is unknown. */
  report(id: string): Promise<ApplicationReport>;
  /** From now on a server that does not answer is given up at once: for callers that ask again themselves. */
  askBriefly(): void;
  reports(filter: ApplicationFilter): Promise<ApplicationReport[]>;
  /** The paths of a queue and of all below it, where there are queues. @throws UserError (`UNKNOWN_QUEUE`) */
  readonly queuesBelow?: (queue: string) => Promise<readonly string[]>;
  /** Why the application does not run yet. */
  waitingReason(report: ApplicationReport): Promise<DelayReason>;
  /** What a running job says of itself, completed with what the cluster knows and its AM does not. */
  explained(status: JobStatus): Promise<JobStatus>;
  /** The same from the last answer of the cluster, without waiting: for callers that are shown a status again and again. */
  explainedSoon(status: JobStatus): JobStatus;
  /** Undefined while no AM serves clients yet, or when the caller may not read its staging folder. */
  contact(report: ApplicationReport): Promise<MasterContact | undefined>;
  /** Why the last `contact` with a running job gave nothing, in words. */
  noContactReason(report: ApplicationReport): string;
  /** Asks for the application's end, whatever its state; callers repeat it until the report says that it has ended. */
  kill(id: string, reason: string): Promise<void>;
  /** The last state of a job that has ended, outcome included; undefined when its AM left none, or the job is another user's. */
  finalStatus(report: ApplicationReport): Promise<JobStatus | undefined>;
  /** Why the last `finalStatus` could not look for the state, in words; undefined: it could, and there is none. */
  noStatusReason(): string | undefined;
  /** Where the executors of an ended job stored its checkpoints, for jobs whose last state was not kept. Undefined where nobody knows. */
  checkpointDir(id: string): Promise<string | undefined>;
  /** The folder that a job of this machine has to itself. */
  folder?(id: string): string;
  /** Where a job's history is, by its own settings; absent or undefined where only the settings of the site and the command line say it. */
  keptHistory?(id: string): KeptHistory | undefined;
  /** Removes what an ended application left behind and nobody needs. @returns what was done, in words; empty: nothing to say */
  clean(id: string): Promise<string>;
  /** Removes what the user's earlier applications left behind; ignores failures. */
  sweep(): Promise<void>;
  /**
   * Replaces the delegation tokens of a running job before they expire, until the caller calls the returned function.
   * @param sinceMs when the job was submitted, milliseconds since the epoch
   */
  keepTokens?(id: string, sinceMs: number): () => void;
  /** A file from the staging folder of a running job, which only its owner may read; absent: such jobs have no page. */
  readStaged?(id: string, name: string): Promise<Buffer>;
  /** The file systems that the addresses of its jobs refer to. */
  fileSystems(): Promise<Pick<FileSystems, "locate" | "home">>;
  /** The application's stored logs, for when the AM cannot be asked for them. */
  logStore(report: ApplicationReport): LogStore;
  close(): void;
}

/** The application's end in YARN's words: where YARN says FINISHED, the final status that its AM reported. */
export function finalState({ state, finalStatus }: ApplicationReport): string {
  return state === "FINISHED" ? finalStatus : state;
}

/** The time from the submission to the end, or until now. */
export function durationMs({ startTimeMs, finishTimeMs }: ApplicationReport, nowMs: number): number {
  return (finishTimeMs === 0 ? nowMs : finishTimeMs) - startTimeMs;
}

/** Said of a job without a last state: its AM wrote none, or wrote it into a staging folder of the job's own. */
export const NOT_KEPT =
  "how it ended was not kept here (a job with a tony.staging-dir of its own has it there: add --conf tony.staging-dir=…)";
