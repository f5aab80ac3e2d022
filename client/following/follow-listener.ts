import type { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";
import type { OutputLine } from "../../src/logs/ordered-output.ts";

/** The end of a job that was followed. */
export interface FollowedEnd {
  readonly outcome: JobOutcome;
  readonly report: ApplicationReport;
  readonly exitCode: ExitCode;
  /** What was cleaned, in words, of a job that was ended from here. */
  readonly cleaned?: string;
}

/** Is told of a job as it is followed, and shows it in its own way; the end, or that we leave, comes last. */
export interface FollowListener {
  /** Whether what it shows of a wait says how long it has lasted, and is told anew every second. */
  readonly countsTime: boolean;
  /** The application waits for its AM: why, in words and as data. */
  waiting(report: ApplicationReport, reason: string, delay: DelayReason): void;
  /** @param reason why the ResourceManager does not answer */
  managerSilent(silentMs: number, reason: string): void;
  trackingUrl(url: string): void;
  show(status: JobStatus): void;
  /** One line of a task's output. */
  taskLine(task: string, line: OutputLine): void;
  /** A remark of the following itself. */
  line(text: string): void;
  /** The job is being ended, from here. */
  ending(): void;
  ended(end: FollowedEnd): void;
  /** Nobody follows any more, though the job has not ended. */
  left(reason: string, exitCode: ExitCode): void;
}
