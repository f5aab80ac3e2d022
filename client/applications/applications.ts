import type { ClientAccess } from "../../src/api/identity.ts";
import type { FileSystems } from "../../src/hadoop/hdfs/file-systems.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { ApplicationFilter } from "../../src/hadoop/yarn/submission.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { LogStore } from "../../src/logs/log-store.ts";

export { hasEnded } from "../../src/job/outcome.ts";

/** Where the AM of one attempt is reached, and what proves us and it to each other. */
export interface MasterContact {
  readonly attempt: number;
  readonly host: string;
  readonly port: number;
  readonly access: ClientAccess;
}

/** A folder of the job's own, or the settings that say in which one of all jobs it is. */
export type KeptHistory = { readonly folder: string } | { readonly settings: JobSpec["history"] };

/** Where applications are known by their id: a cluster's ResourceManager, or this machine. */
export interface Applications {
  /** Who asks. */
  readonly user: string;
  /** Throws an error with code `APPLICATION_NOT_FOUND` when the id is unknown. */
  report(id: string): Promise<ApplicationReport>;
  /** From now on whoever does not answer is given up at once: for those who ask again themselves. */
  askBriefly(): void;
  reports(filter: ApplicationFilter): Promise<ApplicationReport[]>;
  /** The paths of a queue and of all below it, where there are queues. @throws UserError (`UNKNOWN_QUEUE`) */
  readonly queuesBelow?: (queue: string) => Promise<readonly string[]>;
  /** Why it does not run yet. */
  waitingReason(report: ApplicationReport): Promise<DelayReason>;
  /** What a job that runs says of itself, with what the cluster knows of that and its AM does not. */
  explained(status: JobStatus): Promise<JobStatus>;
  /** The same by what was heard of the cluster last: for those who are told again and again. */
  explainedSoon(status: JobStatus): JobStatus;
  /** Undefined while the AM serves nobody yet, or when its staging folder may not be read. */
  contact(report: ApplicationReport): Promise<MasterContact | undefined>;
  /** Why `contact` gave nothing the last time, of a job that runs, in words. */
  noContactReason(report: ApplicationReport): string;
  /** Asks for its end, whatever state it is in; to be repeated until the report says that it has ended. */
  kill(id: string, reason: string): Promise<void>;
  /** The last state of a job that has ended, outcome included; undefined when its AM left none, or it is not ours. */
  finalStatus(report: ApplicationReport): Promise<JobStatus | undefined>;
  /** Why `finalStatus` could not look for it the last time, in words; undefined: it could, and there is none. */
  noStatusReason(): string | undefined;
  /**
   * Where the executors of a job that has ended stored its checkpoints: for one of which no last state was kept. Undefined where nobody
   * knows.
   */
  checkpointDir(id: string): Promise<string | undefined>;
  /** The folder that a job of this machine has of its own. */
  folder?(id: string): string;
  /** Where a job's history is, by its own settings; absent or undefined where only the site's and the command's tell. */
  keptHistory?(id: string): KeptHistory | undefined;
  /** Removes what an application that has ended left where nobody needs it. @returns what became of it, in words; empty: nothing to say */
  clean(id: string): Promise<string>;
  /** Removes what the user's earlier applications left behind; problems with that are nobody's concern now. */
  sweep(): Promise<void>;
  /**
   * Replaces the delegation tokens of a job that runs before they end, as long as nobody calls what this returns.
   * @param sinceMs when the job was submitted, milliseconds since the epoch
   */
  keepTokens?(id: string, sinceMs: number): () => void;
  /** A file of the staging folder of a job that runs, which is its owner's alone; absent: such jobs have no page. */
  readStaged?(id: string, name: string): Promise<Buffer>;
  /** The file systems that its jobs' addresses are on. */
  fileSystems(): Promise<Pick<FileSystems, "locate" | "home">>;
  /** Its logs, when the AM cannot be asked for them. */
  logStore(report: ApplicationReport): LogStore;
  close(): void;
}

/** What became of it, in YARN's words: its AM says how a job ended that is FINISHED to YARN. */
export function finalState({ state, finalStatus }: ApplicationReport): string {
  return state === "FINISHED" ? finalStatus : state;
}

/** From its submission to its end, or until now. */
export function durationMs({ startTimeMs, finishTimeMs }: ApplicationReport, nowMs: number): number {
  return (finishTimeMs === 0 ? nowMs : finishTimeMs) - startTimeMs;
}

/** Of a job without a last state: its AM wrote none, or wrote it into a staging folder of the job's own. */
export const NOT_KEPT =
  "how it ended was not kept here (a job with a tony.staging-dir of its own has it there: add --conf tony.staging-dir=…)";
