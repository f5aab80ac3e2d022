import type { UserError } from "../../src/errors.ts";
import { usageError } from "../../src/errors.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { sizeWords } from "../../src/job/reasons/words.ts";
import { isOfTrial, shownNameInTrial } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus, TaskStatus } from "../../src/job/status.ts";
import { parseTaskId, taskSpans } from "../../src/job/task.ts";
import type { LineFilter } from "../../src/logs/ordered-output.ts";
import { earlierWords } from "./earlier-search.ts";

/** Whose output is shown: the lead task's, no task's, all tasks', the ApplicationMaster's own, or that of named tasks and roles. */
export type LogSelection =
  | { readonly kind: "lead" | "none" | "all" | "master" }
  | { readonly kind: "named"; readonly names: readonly string[] };

/** The requested logs. */
export interface LogsRequest {
  readonly report: ApplicationReport;
  readonly selection: LogSelection;
  readonly filter: LineFilter;
  /** The log of each task's executor, instead of what its program printed. */
  readonly executor?: boolean;
}

/**
 * `none`, `all`, or a comma list of tasks (`worker:1`), roles (`worker`) and trials (`trial:17`, `trial:17/ps:0`); absent: the lead task.
 * @param given the option that the person used
 */
export function parseLogSelection(text: string | undefined, given = "--logs"): LogSelection {
  if (text === undefined) return { kind: "lead" };
  if (text === "none" || text === "all") return { kind: text };
  const names = text.split(",").map((name) => name.trim());
  const isName = (name: string) => parseTaskId(name.includes(":") ? name : `${name}:0`) !== undefined;
  const wrong = names.find((name) => !isName(name.replace(/^trial:\d+\//, "")));
  if (wrong === undefined) return { kind: "named", names };
  throw usageError(`${given} takes none, all, or tasks such as worker:0, worker or trial:17, not "${wrong}"`);
}

/**
 * The same with the tasks of a search in place of its trials.
 * @param nameByTrial a task's name by its trial
 */
export function byTask(
  selection: LogSelection,
  tasks: readonly string[],
  nameByTrial: (task: string) => string | undefined,
): LogSelection {
  if (selection.kind !== "named" || !selection.names.some((name) => name.startsWith("trial:"))) return selection;
  const names = selection.names.flatMap((name) => {
    const ofTrial = tasks.filter((task) => isOfTrial(nameByTrial(task), name));
    return ofTrial.length === 0 ? name : ofTrial;
  });
  return { kind: "named", names };
}

/** The same for a job whose status an ApplicationMaster reported. */
export function byTaskOf(selection: LogSelection, status: JobStatus): LogSelection {
  return byTask(selection, taskNames(status), (task) => shownNameInTrial(status, task));
}

/** The selected tasks, in the job's order. `leadTask` is the job's own; without it the usual order decides. */
export function selectTasks(selection: LogSelection, status: JobStatus, leadTask?: string): TaskStatus[] {
  const selected = selectNames(byTaskOf(selection, status), taskNames(status), leadTask);
  return status.tasks.filter(({ task }) => selected.includes(task));
}

/** The same when only the tasks' names are known. */
export function selectNames(selection: LogSelection, tasks: readonly string[], leadTask = leadOf(tasks)): string[] {
  switch (selection.kind) {
    case "none":
    case "master":
      return [];
    case "all":
      return [...tasks];
    case "lead":
      return tasks.filter((task) => task === leadTask);
    case "named":
      return tasks.filter((task) => selection.names.some((name) => isNamed(task, name)));
  }
}

/** The error for a selection that names tasks which the job does not have; undefined when all names exist. */
export function noSuchTask(
  selection: LogSelection,
  tasks: readonly string[],
  nameByTrial: (task: string) => string | undefined = () => undefined,
): UserError | undefined {
  if (selection.kind !== "named") return undefined;
  const unknown = selection.names.find((name) => !tasks.some((task) => isNamed(task, name)));
  if (unknown === undefined) return undefined;
  const there = taskSpans(alternatives(unknown, tasks, nameByTrial).toSorted(byNumber));
  return usageError(`The job has no task ${unknown}${there === "" ? "" : `; it has ${there}`}`);
}

/** The error for a selection of a trial that ended in an earlier search, which has its logs; undefined: none is selected. */
export function ofEarlierSearch(selection: LogSelection, status: JobStatus): UserError | undefined {
  const named = selection.kind === "named" ? selection.names : [];
  const [words] = named.flatMap((name) => earlierWords(status, name, "logs") ?? []);
  return words === undefined ? undefined : usageError(words);
}

/** The names to suggest instead: tasks, or for a search its trials, or the tasks of the named trial. */
function alternatives(
  unknown: string,
  tasks: readonly string[],
  nameByTrial: (task: string) => string | undefined,
): string[] {
  const ofTrials = tasks.flatMap((task) => nameByTrial(task) ?? []);
  if (!unknown.startsWith("trial:") || ofTrials.length === 0) return [...tasks];
  const trialOf = (name: string) => name.replace(/\/.*/, "");
  const ofSame = ofTrials.filter((name) => trialOf(name) === trialOf(unknown));
  return ofSame.length > 0 ? ofSame : [...new Set(ofTrials.map(trialOf))];
}

/** `worker:2` before `worker:10`. */
export function byNumber(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** The name shown for each task: in a search its trial, or its name within the trial where that has several tasks. */
export function shownName(
  tasks: readonly string[],
  nameByTrial: (task: string) => string | undefined,
): (task: string) => string {
  const trialOf = (task: string) => nameByTrial(task)?.replace(/\/.*/, "");
  const ofOne = new Set(tasks.map(trialOf)).size === tasks.length;
  return (task) => (ofOne ? trialOf(task) : nameByTrial(task)) ?? task;
}

/** The error for a generation that the job has not had; undefined when it has. */
export function noSuchGeneration({ generation }: LineFilter, last: number): UserError | undefined {
  if (generation === undefined || generation <= last) return undefined;
  return usageError(`The job has no generation ${generation}; it has ${last === 1 ? "1 alone" : `1 to ${last}`}`);
}

/** A remark that earlier generations of a task ran in containers that are gone while the job runs; undefined when none of that was requested. */
export function missingGenerations(
  task: string,
  firstThere: number,
  { generation = 1, tail, sinceMs }: LineFilter,
): string | undefined {
  if (generation >= firstThere || tail !== undefined || sinceMs !== undefined) return undefined;
  const last = firstThere - 1;
  const which = last === 1 ? "generation 1" : `generations 1 to ${last}`;
  return `${which} of ${task} ran in containers that are gone: their logs can be read when the job has ended`;
}

/** A remark on the part of a task's output that is no longer kept; undefined when no requested part is missing. */
export function missingOutput(task: string, bytes: number, { tail }: LineFilter): string | undefined {
  if (bytes === 0 || tail !== undefined) return undefined;
  return `${sizeWords(bytes)} of ${task}'s output are not kept: tony.log.max-size and tony.log.max-files say how much is`;
}

/** `worker:0`, `worker:1`, … of a job that is not running yet. */
export function tasksOf(roles: readonly { readonly name: string; readonly instances: number }[]): string[] {
  return roles.flatMap(({ name, instances }) => Array.from({ length: instances }, (_, index) => `${name}:${index}`));
}

export function taskNames({ tasks }: JobStatus): string[] {
  return tasks.map(({ task }) => task);
}

/** Whether a task is the one named, or one of the role named. */
export function isNamed(task: string, name: string): boolean {
  return task === name || task.startsWith(`${name}:`);
}

/** The task whose output people want first, in the order of JobSpec: `chief:0`, else `worker:0`, else the first. */
export function leadOf(tasks: readonly string[]): string | undefined {
  return ["chief:0", "worker:0"].find((task) => tasks.includes(task)) ?? tasks[0];
}
