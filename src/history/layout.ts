import path from "node:path";
import type { JobOutcome } from "../job/status.ts";

/** The file to which a running job's events are appended; one for all its attempts. */
export const historyFileInProgress = "events.jsonl.inprogress";
/** The key to all of a running job's page, for users who may read its history. */
export const pageKeyFile = "page.key";
const inProgress = ".inprogress";
const results = ["succeeded", "failed", "killed"] as const satisfies readonly JobOutcome["result"][];

/** A job, as the names of its history files describe it. */
export interface HistoryJob {
  readonly applicationId: string;
  readonly startedAtMs: number;
  readonly user: string;
}
export interface HistoryEnd {
  readonly endedAtMs: number;
  readonly result: JobOutcome["result"];
}

/** The file's name once the job has ended. A user's name may contain a `-`, so the name is parsed from both ends. */
export function finishedHistoryFile({ applicationId, startedAtMs, user }: HistoryJob, end: HistoryEnd): string {
  return `${applicationId}-${startedAtMs}-${end.endedAtMs}-${user}-${end.result.toUpperCase()}.jsonl`;
}

/**
 * The name of TonY's file (com.linkedin.tony.util.HistoryFileUtils), while the job runs and after its end. TonY's readers split it at each
 * `-`, take what precedes the first `.`, and require a user in lower-case letters (com.linkedin.tony.util.ParserUtils#isValidHistFileName).
 */
export function tonyHistoryFile({ applicationId, startedAtMs, user }: HistoryJob, end?: HistoryEnd): string {
  const who = user.toLowerCase().replaceAll(/[-.]/g, "_");
  if (end === undefined) return `${applicationId}-${startedAtMs}-${who}.jhist${inProgress}`;
  return `${applicationId}-${startedAtMs}-${end.endedAtMs}-${who}-${end.result.toUpperCase()}.jhist`;
}

/** The facts about a job in the name of its history file. */
export interface HistoryFileName extends HistoryJob {
  /** Ours, or TonY's. */
  readonly format: "jsonl" | "jhist";
  readonly endedAtMs?: number;
  readonly result?: JobOutcome["result"];
}

/** For a file with its final name, and for TonY's also while its job runs; undefined for any other file. */
export function parseHistoryFileName(fileName: string): HistoryFileName | undefined {
  const [, applicationId, started, ended, user, word, kind] =
    /^(application_\d+_\d+)-(\d+)-(?:(\d+)-)?(.+?)(?:-(SUCCEEDED|FAILED|KILLED))?\.(jsonl|jhist)(?:\.inprogress)?$/.exec(
      fileName,
    ) ?? [];
  const format = kind === "jsonl" || kind === "jhist" ? kind : undefined;
  if (applicationId === undefined || user === undefined || format === undefined) return undefined;
  const job: HistoryFileName = { format, applicationId, startedAtMs: Number(started), user };
  const result = results.find((one) => one.toUpperCase() === word);
  return result === undefined ? job : { ...job, endedAtMs: Number(ended), result };
}

/** When a job with an unfinished TonY file began; undefined for any other file. */
export function startOfUnfinished(fileName: string): number | undefined {
  const [, startedAtMs] = /^[a-z]+_\d+_\d+-(\d+)-.*\.jhist\.inprogress$/.exec(fileName) ?? [];
  return startedAtMs === undefined ? undefined : Number(startedAtMs);
}

/** Where a job's folder is while it runs: `<location>/intermediate/<applicationId>`. */
export function historyFolder(intermediate: string, applicationId: string): string {
  return path.posix.join(intermediate, applicationId);
}

/** Where TonY stores it after the end: `<finished>/2026/11/23/<applicationId>`, by the day of the end. */
export function finishedFolder(
  finished: string,
  { applicationId, endedAtMs, timeZone }: { applicationId: string; endedAtMs: number; timeZone: string },
): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  const found = new Map(parts.formatToParts(endedAtMs).map(({ type, value }) => [type, value]));
  const day = [found.get("year"), found.get("month"), found.get("day")].map((part) => part ?? "");
  return path.posix.join(finished, ...day, applicationId);
}
