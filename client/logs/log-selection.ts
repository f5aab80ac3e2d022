import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { JobStatus, TaskStatus } from "../../src/job/status.ts";
import { parseTaskId } from "../../src/job/task.ts";
import { usageError } from "../command-line/command.ts";

/** Whose output is shown: the lead task's, nobody's, everybody's, or that of named tasks and roles. */
export type LogSelection =
  | { readonly kind: "lead" | "none" | "all" }
  | { readonly kind: "named"; readonly names: readonly string[] };

/** Which logs are asked for. */
export interface LogsRequest {
  readonly report: ApplicationReport;
  readonly selection: LogSelection;
  /** The ApplicationMaster's own, rather than the tasks'. */
  readonly master: boolean;
  readonly follow: boolean;
}

/** `none`, `all`, or a comma list of tasks (`worker:1`) and roles (`worker`); absent: the lead task. */
export function parseLogSelection(text: string | undefined): LogSelection {
  if (text === undefined) return { kind: "lead" };
  if (text === "none" || text === "all") return { kind: text };
  const names = text.split(",").map((name) => name.trim());
  const wrong = names.find((name) => parseTaskId(name.includes(":") ? name : `${name}:0`) === undefined);
  if (wrong === undefined) return { kind: "named", names };
  throw usageError(`--logs takes none, all, or tasks such as worker:0 or worker, not "${wrong}"`);
}

/** The tasks chosen, in the job's order. `leadTask` is the job's own; without it the usual order decides. */
export function selectTasks(selection: LogSelection, status: JobStatus, leadTask = leadTaskOf(status)): TaskStatus[] {
  switch (selection.kind) {
    case "none":
      return [];
    case "all":
      return [...status.tasks];
    case "lead":
      return status.tasks.filter(({ task }) => task === leadTask);
    case "named":
      return status.tasks.filter(({ task }) => selection.names.some((name) => isNamed(task, name)));
  }
}

/** The names that no task of the job has. */
export function unknownNames(selection: LogSelection, status: JobStatus): string[] {
  if (selection.kind !== "named") return [];
  return selection.names.filter((name) => !status.tasks.some(({ task }) => isNamed(task, name)));
}

function isNamed(task: string, name: string): boolean {
  return task === name || task.startsWith(`${name}:`);
}

/** As JobSpec has it: `chief:0`, else `worker:0`, else the first. */
function leadTaskOf({ tasks }: JobStatus): string | undefined {
  const names = tasks.map(({ task }) => task);
  return ["chief:0", "worker:0"].find((task) => names.includes(task)) ?? names[0];
}
