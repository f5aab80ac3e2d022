import type { ApplicationReport, ContainerId } from "../../src/hadoop/yarn/records.ts";
import { spokenName } from "../../src/job/search/trial-tasks.ts";
import { taskSpans } from "../../src/job/task.ts";
import type { Tenancy } from "../../src/logs/master-log.ts";
import type { LineFilter } from "../../src/logs/ordered-output.ts";
import { type Applications, hasEnded } from "../applications/applications.ts";
import type { LogPrinter } from "./log-printer.ts";
import type { LogsRequest } from "./log-selection.ts";

/** Says which tasks no line was shown of: an empty answer looks like a fault. */
export function tellSilent(tasks: readonly string[], filter: LineFilter, printer: LogPrinter): void {
  if (tasks.length === 0) return;
  const { sinceMs, generation, pattern, stream } = filter;
  const isPart = [sinceMs, generation, pattern, stream].some((one) => one !== undefined);
  printer.remark(isPart ? `no matching lines in ${taskSpans(tasks)}` : `${taskSpans(tasks)} printed nothing`);
}

/**
 * The same for a job that has ended, whose tasks may never have run, and whose nodes may be gone together with their
 * logs.
 * @param lost containers whose logs were not uploaded
 * @param shown the name of a task for the person who asked
 */
export function tellWithoutLines(
  tasks: readonly string[],
  tenancies: readonly Tenancy[],
  lost: ReadonlySet<ContainerId>,
  filter: LineFilter,
  printer: LogPrinter,
  shown: (task: string) => string,
): void {
  const spans = (some: readonly string[]) => taskSpans(some.map(shown));
  const ran = (task: string) => tenancies.filter((tenancy) => tenancy.task === task && tenancy.ran);
  const unstarted = tasks.filter((task) => ran(task).length === 0);
  const gone = tasks.filter((task) => ran(task).some(({ containerId }) => lost.has(containerId)));
  if (unstarted.length > 0) printer.remark(`no program of ${spans(unstarted)} was started`);
  if (gone.length > 0) printer.remark(`what ${spans(gone)} printed was not uploaded by its node`);
  const silent = tasks.filter((task) => !unstarted.includes(task) && !gone.includes(task));
  tellSilent(silent.map(shown), filter, printer);
}

/** Points to the log of the task that failed first, when a job failed, no task was named, and that task was not shown. */
export async function tellFirstFailed(
  applications: Pick<Applications, "finalStatus">,
  { report, selection }: LogsRequest,
  shown: readonly string[],
  printer: LogPrinter,
): Promise<void> {
  if (selection.kind !== "lead" || !hasFailed(report)) return;
  const status = await applications.finalStatus(report);
  const task = status?.outcome?.cause?.task;
  if (status === undefined || task === undefined || shown.includes(task)) return;
  const name = spokenName(status, task);
  printer.remark(`${name} failed first: tony-ts logs ${report.id} ${name}`);
}

function hasFailed(report: ApplicationReport): boolean {
  return hasEnded(report) && report.finalStatus === "FAILED";
}
