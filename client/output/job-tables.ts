import { costWords } from "../../src/job/cost.ts";
import type { Checkpoint } from "../../src/job/execution.ts";
import { takenBackFor } from "../../src/job/reasons/endings.ts";
import { budgetWords, durationWords, heldWords } from "../../src/job/reasons/words.ts";
import { spokenName } from "../../src/job/search/trial-tasks.ts";
import type {
  Budget,
  Cause,
  DroppedCheckpoint,
  GenerationSummary,
  JobStatus,
  TaskState,
  TaskStatus,
} from "../../src/job/status.ts";
import { taskSpans } from "../../src/job/task.ts";
import { countedGenerations } from "../../src/job/timeline.ts";
import { budgetFor } from "./budgets.ts";
import { formatClock, formatTable } from "./format.ts";
import { gpuPeak, memoryPeak } from "./use-words.ts";

/** At most so many rows of tasks: the failed ones come first. */
const shownTasks = 30;

function parameterList(params: Readonly<Record<string, string>>): string {
  return Object.entries(params)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");
}

/** YARN's meaning of an exit status (org.apache.hadoop.yarn.api.records.ContainerExitStatus), where one word says it. */
const exitWords: Readonly<Record<string, string>> = {
  "-100": "node lost",
  "-101": "disks failed",
  "-102": "preempted",
  "-103": "vmem",
  "-104": "OOM",
};

/** `cost 62 EUR: 12 GiB·h, 40 core·h`; nothing without prices. */
export function costLines({ usage }: Pick<JobStatus, "usage">): string[] {
  return usage.cost === undefined ? [] : [`cost ${costWords(usage.cost)}: ${heldWords(usage)}`];
}

/** How each task ended. Containers that a task gave back earlier are unknown here; it is only known when no task ever held one. */
export function taskTable(job: Pick<JobStatus, "tasks" | "roles" | "usage" | "search">): string[] {
  const { tasks: all, roles, usage } = job;
  const nameOf = ({ task }: TaskStatus) => spokenName(job, task);
  const tasks = all.filter(hadContainer);
  const none = taskSpans(all.filter((task) => !hadContainer(task)).map(nameOf));
  const never = usage.memoryMiBSeconds === 0;
  if (tasks.length === 0 && none === "") return [];
  if (tasks.length === 0)
    return [never ? `No task ever had a container: ${none}` : `No task had a container at the end: ${none}`];
  const shown = tasks.length <= shownTasks ? tasks : failedFirst(tasks).slice(0, shownTasks);
  const used = [
    ["memory peak", shown.map((task) => memoryPeak(task, roles))],
    ["GPUs", shown.map(gpuPeak)],
    ["parameters", shown.map(({ params }) => params && parameterList(params))],
  ] as const;
  const known = used.filter(([, cells]) => cells.some((cell) => cell !== undefined));
  const rows = shown.map((task, index) => [
    nameOf(task),
    endedAs(task.state),
    task.host ?? "–",
    formatExit(task.exit),
    clockOr(task.startedAtMs),
    clockOr(task.endedAtMs),
    stepOr(task.step),
    stepOr(task.checkpointStep),
    ...known.map(([, cells]) => cells[index] ?? "–"),
  ]);
  const more = tasks.length > shown.length ? [`and ${tasks.length - shown.length} more`] : [];
  const columns = known.map(([name]) => name);
  const head = ["task", "state", "host", "exit", "start", "end", "progress", "last checkpoint", ...columns];
  const without = none === "" ? [] : [`${none} had no container at the end`];
  return [...formatTable([head, ...rows]), ...more, ...without, ...stillStopping(tasks)];
}

function hadContainer({ state, containerId, exit }: TaskStatus): boolean {
  return containerId !== undefined || exit !== undefined || (state !== "waiting" && state !== "stopped");
}

/** Programs that were killed while they were stopping: most of them had something to save. */
function stillStopping(tasks: readonly TaskStatus[]): string[] {
  const [first, ...others] = tasks.filter(({ state, exit }) => state === "stopped" && exit === "SIGKILL");
  if (first === undefined) return [];
  const [who, what] =
    others.length === 0
      ? [first.task, "was killed while it was"]
      : [`${first.task} and ${others.length} more`, "were killed while they were"];
  return [`${who} ${what} still stopping: to give programs more time, raise tony.task.stop-grace`];
}

/** For a job that has ended: YARN ended a task whose end nobody reported, together with its container. */
function endedAs(state: TaskState): string {
  const held: readonly TaskState[] = ["allocated", "launched", "registered", "running"];
  return held.includes(state) ? "killed" : state;
}

/** For a job in stages also which start of its stage the generation was: each stage's first start is a generation, too. */
export function generationWords(generation: number, { generations }: Pick<JobStatus, "generations">): string {
  const roles = generations.find((one) => one.generation === generation)?.roles?.join(", ");
  if (roles === undefined) return `generation ${generation}`;
  const starts = generations.filter((one) => one.generation <= generation && one.roles?.join(", ") === roles);
  return `generation ${generation}: start ${starts.length} of the stage of ${roles}`;
}

/** What ended each generation, and where the next one resumed; nothing while there is only one. */
export function generationTable(status: JobStatus): string[] {
  const { budgets, outcome } = status;
  const generations = countedGenerations(status);
  if (generations.length < 2) return [];
  const staged = generations.some(({ roles }) => roles !== undefined);
  const rows = generations.map((generation, index) => {
    const isLast = index === generations.length - 1 && outcome !== undefined;
    return [
      `${generation.generation}  ${formatClock(generation.startedAtMs)}`,
      ...(staged ? [(generation.roles ?? []).join(", ")] : []),
      generation.endedBy?.summary ?? (staged && generation.endedAtMs !== undefined ? "its tasks are done" : "–"),
      countedAs(generation, isLast),
      resumedFrom(generation),
    ];
  });
  return formatTable([["generation", ...(staged ? ["stage"] : []), "ended by", "counted as", "resumed from"], ...rows]);

  function countedAs({ endedBy, roles }: GenerationSummary, isLast: boolean): string {
    if (endedBy === undefined) return "–";
    if (isLast) return `${endedBy.class}, no restart`;
    const takenBack = takenBackFor(endedBy.reason);
    if (takenBack !== undefined) return `${takenBack}, not counted`;
    const budget = budgetFor(budgets, endedBy);
    const used = generations.filter(
      (earlier) =>
        earlier.roles?.join() === roles?.join() &&
        (earlier.endedBy === undefined || budgetFor(budgets, earlier.endedBy) === budget) &&
        countsBeside(earlier, endedBy, budget),
    ).length;
    return budgetWords(endedBy.class, { ...budget, used });
  }
}

/** Whether a generation's end still counted against the same budget when another generation ended. */
function countsBeside({ endedBy }: GenerationSummary, other: Cause, { windowMs }: Budget): boolean {
  return (
    endedBy?.class === other.class &&
    takenBackFor(endedBy.reason) === undefined &&
    endedBy.atMs <= other.atMs &&
    (windowMs === undefined || other.atMs - endedBy.atMs < windowMs)
  );
}

/** `step 1800, 40 s old: hdfs:///ckpt/step-1800`; after the job's end, when the age no longer matters: `saved 40 s before the end` */
export function formatCheckpoint(
  { path, step, atMs }: Checkpoint,
  { outcome, nowMs }: Pick<JobStatus, "outcome" | "nowMs">,
): string {
  const age =
    outcome === undefined
      ? `${durationWords(nowMs - atMs)} old`
      : `saved ${durationWords(outcome.endedAtMs - atMs)} before the end`;
  return `step ${step}, ${age}: ${path}`;
}

/** What happened to a checkpoint that no other container can read. */
export function formatDropped({ step, task, path }: DroppedCheckpoint): string {
  return `the checkpoint of step ${step} lay in the container of ${task} and is lost (${path}); those in tony.checkpoint.local-dir are kept`;
}

/** `143`, `SIGTERM`, `-104 OOM` */
export function formatExit(exit: string | undefined): string {
  const word = exit === undefined ? undefined : exitWords[exit];
  return word === undefined ? (exit ?? "–") : `${exit} ${word}`;
}

function resumedFrom({ resumedFrom: checkpoint, startedAtMs }: GenerationSummary): string {
  if (checkpoint === undefined) return "–";
  return `step ${checkpoint.step}, ${durationWords(startedAtMs - checkpoint.atMs)} old`;
}

function failedFirst(tasks: readonly TaskStatus[]): TaskStatus[] {
  const failed = ({ state }: TaskStatus) => state === "failed" || state === "lost";
  return [...tasks.filter(failed), ...tasks.filter((task) => !failed(task))];
}

function clockOr(atMs: number | undefined): string {
  return atMs === undefined ? "–" : formatClock(atMs);
}

function stepOr(step: number | undefined): string {
  return step === undefined ? "–" : `step ${step}`;
}
