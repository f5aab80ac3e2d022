import type { ExitCode } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";
import type { OutputLine } from "../../src/logs/ordered-output.ts";

/** The end of a followed job. */
export interface FollowedEnd {
  readonly outcome: JobOutcome;
  readonly report: ApplicationReport;
  readonly exitCode: ExitCode;
  /** What was cleaned up, in words, after this client ended the job. */
  readonly cleaned?: string;
}

/** Is called as a followed job proceeds, and shows it in its own way; the job's end, or that this client stops following, comes last. */
export interface FollowListener {
  /** Whether its view of a wait includes the duration, so that it has to be called every second. */
  readonly countsTime: boolean;
  /** The application waits for its AM: the reason in words and as data. */
  waiting(report: ApplicationReport, reason: string, delay: DelayReason): void;
  /** @param reason why the ResourceManager does not answer */
  managerSilent(silentMs: number, reason: string): void;
  trackingUrl(url: string): void;
  show(status: JobStatus): void;
  /** One line of a task's output. */
  taskLine(task: string, line: OutputLine): void;
  /** A remark by the client itself. */
  line(text: string): void;
  /** This client is ending the job. */
  ending(): void;
  ended(end: FollowedEnd): void;
  /** This client stops following, though the job has not ended. */
  left(reason: string, exitCode: ExitCode): void;
}
