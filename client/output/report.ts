import { ExitCode } from "../../src/errors.ts";
import { unreadLines } from "../../src/job/feeds/feed-lines.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import { trialsOf } from "../../src/job/search/trial-list.ts";
import { saidOfTask, spokenName } from "../../src/job/search/trial-tasks.ts";
import type { Cause, JobOutcome, JobStatus, SearchStatus } from "../../src/job/status.ts";
import { formatBudgets } from "./budgets.ts";
import { formatClock } from "./format.ts";
import {
  costLines,
  formatCheckpoint,
  formatDropped,
  formatExit,
  generationTable,
  generationWords,
  taskTable,
} from "./job-tables.ts";
import { transferLines } from "./transfer-lines.ts";
import { trialCounts, trialTable } from "./trial-table.ts";

/** A report repeats at most this many of the program's last lines; `tony-ts logs` has them all. */
const shownLines = 20;

/**
 * The report for people on a job that did not succeed: the root cause with its remedy, its consequences, every task, every
 * generation, and where to read on. Plain text, one array element per line.
 * @param durationMs from the job's submission to its end
 */
export function failureReport(status: JobStatus, outcome: JobOutcome, durationMs: number): string[] {
  const { search } = status;
  const trials = search === undefined ? [] : trialLines(status, search);
  const sections = [
    [headline(status, outcome, durationMs)],
    whyLines(outcome, status),
    ...(trials.length > 0 ? [trials] : [taskTable(status), generationTable(status)]),
    readOn(status, outcome),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]));
}

/** The same for a job of which only the ResourceManager's report is known. */
export function masterlessReport({ id, name }: Named, outcome: JobOutcome): string[] {
  const { result } = outcome;
  return [`${result.toUpperCase()}  ${id}  ${name}`, "", ...whyLines(outcome), "", readOnLine(id, ["am"], result)];
}

/** So many of the best trials are shown. */
const shownTrials = 10;

function trialLines(status: JobStatus, search: SearchStatus): string[] {
  const trials = trialsOf(status, search);
  return trials.length === 0 ? [] : [`trials: ${trialCounts(trials)}`, ...trialTable(trials, search, shownTrials)];
}

interface Named {
  readonly id: string;
  readonly name: string;
}

function headline(status: JobStatus, outcome: JobOutcome, durationMs: number): string {
  const head = `${outcome.result.toUpperCase()}  ${status.applicationId}  ${status.name} · ${durationWords(durationMs)}`;
  if (status.search !== undefined) return head;
  const generations = generationWords(outcome.cause?.generation ?? status.generation, status);
  // Each stage has its own budgets: the table says which generation used up what.
  const isStaged = status.generations.some(({ roles }) => roles !== undefined);
  const budget = isStaged ? "" : ` (${formatBudgets(status)})`;
  return `${head} · ${generations}${budget}`;
}

/** The root cause, and the rule by which it ended the job. @param status absent: its ApplicationMaster reported none */
function whyLines({ cause, rule, summary }: JobOutcome, status?: JobStatus): string[] {
  if (cause === undefined) return labelled("Reason", [status === undefined ? summary : saidOfTask(status, summary)]);
  const label = status?.search === undefined ? "No restart" : "Search ended";
  const told = status === undefined ? cause : spokenCause(cause, status);
  return [...causeLines(told), ...labelled(label, rule === undefined ? [] : [rule])];
}

/** In a search the task's name is that of its trial, and no generation belongs to the whole search. */
function spokenCause({ generation, ...cause }: Cause, status: JobStatus): Cause {
  const { task, summary, consequences } = cause;
  return {
    ...cause,
    ...(task !== undefined && { task: spokenName(status, task) }),
    ...(status.search === undefined && generation !== undefined && { generation }),
    summary: saidOfTask(status, summary),
    consequences: consequences.map((sentence) => saidOfTask(status, sentence)),
  };
}

function causeLines(cause: Cause): string[] {
  const { task, host, containerId, exit, atMs, generation, summary, remedy, lines, consequences } = cause;
  // The summary may already name the task and host.
  const who = [task, host === undefined ? undefined : `on ${host}`].filter(
    (part) => part !== undefined && !summary.includes(part),
  );
  const details = [containerId, exit ? `exit ${formatExit(exit)}` : undefined].filter((part) => part !== undefined);
  const where = details.length === 0 ? "" : ` (${details.join(", ")})`;
  const when = `${formatClock(atMs)}${generation === undefined ? "" : `, generation ${generation}`}`;
  const first = `${[...who, summary].join(" ")}, ${when}${where}`;
  const shown = lines.slice(-shownLines);
  return [
    ...labelled(isOnlyLikely(cause) ? "Likely cause" : "Root cause", [
      first,
      ...(remedy === undefined ? [] : [`→ ${remedy}`]),
    ]),
    ...shown.map((line) => `  | ${line}`),
    ...labelled("Then", consequences),
  ];
}

/** A task that exited with 0 has not failed: it is likely, but not proved, that the others failed because of it. */
function isOnlyLikely({ reason }: Cause): boolean {
  return reason.code === "program-ended-early";
}

/** Lines next to a label, the further ones under the first. */
function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => `${(index === 0 ? label : "").padEnd(13)}${line}`);
}

function readOn(status: JobStatus, { cause, result }: JobOutcome): string[] {
  const { checkpoint, droppedCheckpoint, state, tasks, applicationId } = status;
  const containers = state === "finishing" ? "The containers are being returned" : "All containers are returned";
  const kept = checkpoint === undefined ? "" : `; the last checkpoint is kept: ${formatCheckpoint(checkpoint, status)}`;
  const dropped = droppedCheckpoint === undefined ? "" : `; ${formatDropped(droppedCheckpoint)}`;
  const task = cause === undefined ? tasks[0]?.task : (failedAfter(cause) ?? cause.task);
  return [
    containers + kept + dropped,
    ...costLines(status),
    ...transferLines(status),
    ...unreadLines(status),
    readOnLine(applicationId, task === undefined ? ["am"] : [spokenName(status, task), "am"], result),
  ];
}

/** The first task that failed, where the root cause itself did not fail. */
function failedAfter(cause: Cause): string | undefined {
  const failed = cause.followed.find(({ relation }) => relation === "possible-consequence");
  return isOnlyLikely(cause) ? failed?.reason.task : undefined;
}

function readOnLine(id: string, logs: readonly string[], result: JobOutcome["result"]): string {
  const exitCode = result === "killed" ? ExitCode.killed : ExitCode.jobFailed;
  return `  tony-ts logs ${id} ${logs.join(" | … ")}     tony-ts status ${id} --json     exit code ${exitCode}`;
}
