import { ExitCode, UserError } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import { parseAttemptId } from "../../src/hadoop/yarn/ids.ts";
import type { ApplicationReport, ContainerId } from "../../src/hadoop/yarn/records.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { LogStore } from "../../src/logs/log-store.ts";
import { lastGeneration, type Tenancy, tenanciesOf } from "../../src/logs/master-log.ts";
import { lastOf } from "../../src/logs/ordered-output.ts";
import { ownLines } from "../../src/logs/own-log.ts";
import { executorLines, readMasterLogs, StoredTask } from "../../src/logs/stored-tasks.ts";
import { type Applications, hasEnded } from "../applications/applications.ts";
import { awaitsRegistration } from "../applications/registered-report.ts";
import type { ClientContext } from "../context.ts";
import type { LogPrinter } from "./log-printer.ts";
import {
  byNumber,
  byTask,
  isNamed,
  type LogSelection,
  type LogsRequest,
  leadOf,
  missingOutput,
  noSuchGeneration,
  noSuchTask,
  ofEarlierSearch,
  shownName,
} from "./log-selection.ts";
import { tellFirstFailed, tellWithoutLines } from "./silent-tasks.ts";

/** NodeManagers upload within seconds of an application's end. */
const patienceMs = 60_000;
const lookAgainMs = 1_000;

/** Prints the logs of an application that has ended, or whose AM cannot be asked; waits for their upload and says that it waits. */
export async function storedLogs(
  applications: Applications,
  { report, selection: asked, filter, executor = false }: LogsRequest,
  printer: LogPrinter,
  context: ClientContext,
): Promise<void> {
  const { id } = report;
  const store = applications.logStore(report);
  if ((isQueued(report) && !store.isAtHand) || (report.user === applications.user && !hadContainer(report))) {
    if (hasEnded(report)) throw neverHeldContainer(report);
    printer.remark(`${id} has printed nothing yet: its AM has no container; tony-ts status ${id} says more`);
    return;
  }
  const elsewhere = await namesEarlierSearch(asked, applications, report);
  if (elsewhere !== undefined) throw elsewhere;
  const master = await masterLogs(store, report, context);
  if (master === undefined) throw nothingThere(id, store);
  if (asked.kind === "master") {
    const lines = ownLines(bytesOf(master), "stdout", filter);
    for await (const line of lastOf(lines, filter.tail)) printer.line("am", line);
    return;
  }
  const all = tenanciesOf(master);
  const names = [...new Set(all.map(({ task }) => task))].sort(byNumber);
  const trialNames = new Map(all.flatMap(({ task, trial }) => (trial === undefined ? [] : [[task, trial] as const])));
  const nameByTrial = (task: string) => trialNames.get(task);
  const selection = byTask(asked, names, nameByTrial);
  const unknown =
    all.length === 0
      ? undefined
      : (noSuchTask(selection, names, nameByTrial) ?? noSuchGeneration(filter, lastGeneration(master)));
  if (unknown !== undefined) throw unknown;
  const tasks = selectTasks(names, selection);
  if (tasks.length === 0) throw neverStarted(id);
  const shown = shownName(names, nameByTrial);
  printer.several = tasks.length > 1;
  printer.nameOf = shown;
  const wanted = all.filter(({ task }) => tasks.includes(task));
  const lost = await awaitPrograms(store, wanted, report, context);
  const silent = new Set(tasks);
  for (const task of tasks) {
    const own = wanted.filter((tenancy) => tenancy.task === task);
    const stored = new StoredTask();
    const lines = executor ? executorLines(store, own, filter) : stored.lines(store, own, filter);
    for await (const line of lastOf(lines, filter.tail)) {
      silent.delete(task);
      printer.line(task, line);
    }
    const missing = missingOutput(shown(task), stored.missingBytes, filter);
    if (missing !== undefined) printer.remark(missing);
  }
  if (hasEnded(report)) tellWithoutLines([...silent], wanted, lost, filter, printer, shown);
  if (!executor) await tellFirstFailed(applications, { report, selection, filter }, tasks, printer);
}

/** Asks for the status only where a trial is named. */
async function namesEarlierSearch(
  selection: LogSelection,
  applications: Applications,
  report: ApplicationReport,
): Promise<UserError | undefined> {
  if (selection.kind !== "named" || !selection.names.some((name) => name.startsWith("trial:"))) return undefined;
  const status = hasEnded(report) ? await applications.finalStatus(report) : undefined;
  return status && ofEarlierSearch(selection, status);
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/**
 * Waits for the logs of the containers that programs ran in: each node uploads its own. For a job that ended long ago nothing more
 * arrives; what is missing then was lost with its node.
 * @returns the containers whose logs are missing
 */
async function awaitPrograms(
  store: LogStore,
  tenancies: readonly Tenancy[],
  report: ApplicationReport,
  context: ClientContext,
): Promise<ReadonlySet<ContainerId>> {
  const missing = new Set(tenancies.filter(({ ran }) => ran).map(({ containerId }) => containerId));
  if (!hasEnded(report)) return new Set();
  await untilUploaded(store, uploadsSinceMs(report, context), context, async () => {
    for await (const { containerId } of store.logs((id) => missing.has(id))) missing.delete(containerId);
    return missing.size === 0 ? true : undefined;
  });
  return missing;
}

/** When the nodes began to upload the logs of an ended job; a cluster's clock may be ahead of ours. */
function uploadsSinceMs({ finishTimeMs }: ApplicationReport, { now }: ClientContext): number {
  return Math.min(finishTimeMs, now());
}

/** Looks until the nodes have uploaded what is searched for; undefined when that takes too long. */
async function untilUploaded<Found>(
  store: LogStore,
  sinceMs: number,
  { output, now }: ClientContext,
  look: () => Promise<Found | undefined>,
): Promise<Found | undefined> {
  for (;;) {
    const found = await look();
    const waitedMs = now() - sinceMs;
    if (found !== undefined || store.pending === undefined || waitedMs > patienceMs) {
      output.endWait();
      return found;
    }
    const line = `${store.pending}, ${durationWords(waitedMs)} (up to ${patienceMs / 1000} s)`;
    output.waitAside({ lines: [line], cause: store.pending, line, change: "", facts: [] });
    await sleep(lookAgainMs);
  }
}

/** The AM's log of all its attempts, after waiting for their uploads; undefined when there is none. */
async function masterLogs(
  store: LogStore,
  report: ApplicationReport,
  context: ClientContext,
): Promise<string | undefined> {
  const attempts = report.currentAttemptId === undefined ? 1 : parseAttemptId(report.currentAttemptId).attempt;
  const some = await untilUploaded(store, context.now(), context, async () => nonEmpty(await readMasterLogs(store)));
  if (some === undefined || some.length >= attempts || !hasEnded(report)) return some?.join("");
  let present: readonly string[] = some;
  await untilUploaded(store, uploadsSinceMs(report, context), context, async () => {
    present = await readMasterLogs(store);
    return present.length >= attempts ? present : undefined;
  });
  return present.join("");
}

function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The selected tasks' names, in the given order. */
function selectTasks(names: readonly string[], selection: LogSelection): string[] {
  const lead = leadOf(names);
  const chosen = (task: string) => {
    if (selection.kind === "named") return selection.names.some((name) => isNamed(task, name));
    return selection.kind === "all" || (selection.kind === "lead" && task === lead);
  };
  return names.filter(chosen);
}

function nothingThere(id: string, { pending }: LogStore): UserError {
  const why = pending === undefined ? "" : ` yet: still ${pending} after ${patienceMs / 1000} s`;
  const again = pending === undefined ? "" : `\n  tony-ts logs ${id} waits again`;
  return new UserError(`There are no logs of ${id}${why}${again}`, { code: "NO_LOGS", exitCode: ExitCode.cluster });
}

/** Whether the application still waits in its queue, for any user: YARN reports what an application has held only to those who may see it. */
function isQueued(report: ApplicationReport): boolean {
  const { currentAttemptId: id } = report;
  const isFirst = id === undefined || parseAttemptId(id).attempt === 1;
  return isFirst && !hasEnded(report) && report.state !== "RUNNING" && !awaitsRegistration(report);
}

/**
 * YARN counts what an application's containers held, and every container holds memory. It counts a container's use once the container has
 * ended, in whole seconds: for a quick job only its AM's registration says that it had one.
 */
function hadContainer({ usage, amRpcPort }: ApplicationReport): boolean {
  return usage?.memorySeconds !== 0 || amRpcPort !== undefined;
}

function neverHeldContainer({ id }: ApplicationReport): UserError {
  const why = "it ended before its AM had a container";
  return new UserError(`There are no logs of ${id}: ${why}\n  tony-ts status ${id} says more`, {
    code: "NO_LOGS",
    exitCode: ExitCode.cluster,
  });
}

function neverStarted(id: string): UserError {
  return new UserError(`No task of ${id} ever had a container: tony-ts logs ${id} am says more`, {
    code: "NO_LOGS",
    exitCode: ExitCode.cluster,
  });
}
