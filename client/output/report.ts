import type { Cause, GenerationSummary, JobOutcome, JobStatus, TaskStatus } from "../../src/job/status.ts";
import { formatClock, formatTable, formatWholeSeconds } from "./format.ts";

/** At most so many of the program's last lines are repeated in a report; `tony-ts logs` has them all. */
const shownLines = 20;
/** At most so many rows of tasks: the failed ones come first. */
const shownTasks = 30;

/**
 * What people read when a job did not succeed: the root cause with its remedy, what followed from it, every task, every generation,
 * and where to read on. Plain text, a line each.
 */
export function failureReport(status: JobStatus, outcome: JobOutcome): string[] {
  const sections = [
    [headline(status, outcome)],
    whyLines(outcome),
    taskTable(status.tasks),
    generationTable(status),
    readOn(status, outcome),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]));
}

/** The same for a job of which nothing is known but what the ResourceManager says. */
export function masterlessReport({ id, name }: Named, outcome: JobOutcome): string[] {
  const { result } = outcome;
  return [`${result.toUpperCase()}  ${id}  ${name}`, "", ...whyLines(outcome), "", readOnLine(id, ["am"], result)];
}

interface Named {
  readonly id: string;
  readonly name: string;
}

function headline(status: JobStatus, outcome: JobOutcome): string {
  const { program } = status.budgets;
  const generations = `generation ${status.generation}`;
  const budget = `program budget ${program.used} of ${program.limit} spent`;
  const duration = formatWholeSeconds(outcome.endedAtMs - status.startedAtMs);
  return `${outcome.result.toUpperCase()}  ${status.applicationId}  ${status.name} · ${duration} · ${generations} (${budget})`;
}

/** What was the root of it, and by which rule that ended the job. */
function whyLines({ cause, rule, summary }: JobOutcome): string[] {
  if (cause === undefined) return labelled("Reason", [summary]);
  return [...causeLines(cause), ...labelled("No restart", rule === undefined ? [] : [rule])];
}

function causeLines(cause: Cause): string[] {
  const { task, host, containerId, exit, atMs, summary, remedy, lines, consequences } = cause;
  // The summary may name task and host already.
  const who = [task, host === undefined ? undefined : `on ${host}`].filter(
    (part) => part !== undefined && !summary.includes(part),
  );
  const details = [containerId, exit === undefined ? undefined : `exit ${exit}`].filter((part) => part !== undefined);
  const where = details.length === 0 ? "" : ` (${details.join(", ")})`;
  const first = `${[...who, summary].join(" ")}, ${formatClock(atMs)}${where}`;
  const shown = lines.slice(-shownLines);
  return [
    ...labelled("Root cause", [first, ...(remedy === undefined ? [] : [`→ ${remedy}`])]),
    ...shown.map((line) => `  | ${line}`),
    ...labelled("Then", consequences),
  ];
}

/** Lines beside a label, the further ones under the first. */
function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => `${(index === 0 ? label : "").padEnd(13)}${line}`);
}

function taskTable(tasks: readonly TaskStatus[]): string[] {
  if (tasks.length === 0) return [];
  const shown = [...tasks].sort((a, b) => rank(a) - rank(b)).slice(0, shownTasks);
  const rows = shown.map(({ task, state, host, exit, startedAtMs, endedAtMs, step }) => [
    task,
    state,
    host ?? "–",
    exit ?? "–",
    clockOr(startedAtMs),
    clockOr(endedAtMs),
    step === undefined ? "–" : `step ${step}`,
  ]);
  const more = tasks.length > shown.length ? [`and ${tasks.length - shown.length} more`] : [];
  return [...formatTable([["task", "state", "host", "exit", "start", "end", "progress"], ...rows]), ...more];
}

/** The order of the job, but what failed goes first where not all rows are shown. */
function rank({ state }: TaskStatus): number {
  return state === "failed" || state === "lost" ? 0 : 1;
}

function generationTable({ generations, budgets }: JobStatus): string[] {
  if (generations.length < 2) return [];
  const spent = { program: 0, infrastructure: 0 };
  const rows = generations.map((summary) => {
    const { endedBy } = summary;
    if (endedBy !== undefined) spent[endedBy.class] += 1;
    return [
      `${summary.generation}  ${formatClock(summary.startedAtMs)}`,
      endedBy === undefined ? "–" : endedBy.summary,
      endedBy === undefined ? "–" : `${endedBy.class} ${spent[endedBy.class]} of ${budgets[endedBy.class].limit}`,
      resumedFrom(summary),
    ];
  });
  return formatTable([["generation", "ended by", "counted as", "resumed from"], ...rows]);
}

function resumedFrom({ resumedFrom: checkpoint }: GenerationSummary): string {
  return checkpoint === undefined ? "–" : `step ${checkpoint.step}`;
}

function readOn(status: JobStatus, { cause, result }: JobOutcome): string[] {
  const checkpoints = status.checkpoint === undefined ? [] : [`Checkpoints are kept: ${status.checkpoint.path}`];
  const task = cause === undefined ? status.tasks[0]?.task : cause.task;
  const logs = task === undefined ? ["am"] : [task, "am"];
  return [...checkpoints, readOnLine(status.applicationId, logs, result)];
}

function readOnLine(id: string, logs: readonly string[], result: JobOutcome["result"]): string {
  const commands = logs.map((log) => `  tony-ts logs ${id} ${log}`).join("   ");
  return `${commands}     exit code ${result === "killed" ? 4 : 1}`;
}

function clockOr(atMs: number | undefined): string {
  return atMs === undefined ? "–" : formatClock(atMs);
}
