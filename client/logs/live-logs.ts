import type { LogStream } from "../../src/api/messages.ts";
import { shownNameInTrial, spokenName } from "../../src/job/search/trial-tasks.ts";
import type { TaskStatus } from "../../src/job/status.ts";
import { type LineFilter, lastOf, type OrderedOutput, type OutputPiece } from "../../src/logs/ordered-output.ts";
import { ownLines } from "../../src/logs/own-log.ts";
import type { Applications, MasterContact } from "../applications/applications.ts";
import { type AttemptConnection, statusNow } from "../master/attempt-connection.ts";
import { connectMaster } from "../master/master-connection.ts";
import { LiveOutput } from "./live-output.ts";
import type { LogPrinter } from "./log-printer.ts";
import {
  byTaskOf,
  type LogsRequest,
  missingGenerations,
  missingOutput,
  noSuchGeneration,
  noSuchTask,
  ofEarlierSearch,
  selectTasks,
  taskNames,
} from "./log-selection.ts";
import { tellSilent } from "./silent-tasks.ts";
import { UnreadTasks } from "./unread-tasks.ts";

/** Where the printed part of a task's stream ends, in bytes; 0 where nothing was printed. */
export type PrintedTo = (task: string, stream: LogStream) => number;

export interface LiveLogsOptions extends LogsRequest {
  /** Whether the logs are followed afterwards: a task without a program is no error then, and an unfinished line is not printed yet. */
  readonly follow: boolean;
}

/** Prints the existing logs of a running job through its AM. Undefined when the AM cannot be asked. */
export async function liveLogs(
  applications: Applications,
  options: LiveLogsOptions,
  printer: LogPrinter,
  connect: (contact: MasterContact) => AttemptConnection = connectMaster,
): Promise<PrintedTo | undefined> {
  const { report, selection, filter, executor } = options;
  const contact = await applications.contact(report);
  if (contact === undefined) return undefined;
  const link = connect(contact);
  try {
    const status = await statusNow(link);
    if (status === undefined) throw new RangeError("the AM does not tell its state");
    const live = new LiveOutput(link, applications.logStore(report), status);
    if (selection.kind === "master") {
      const printed = await printOwnLog("am", live.master(), filter, printer);
      return () => printed;
    }
    const nameByTrial = (task: string) => shownNameInTrial(status, task);
    const unknown =
      ofEarlierSearch(selection, status) ??
      noSuchTask(byTaskOf(selection, status), taskNames(status), nameByTrial) ??
      noSuchGeneration(filter, status.generation);
    if (unknown !== undefined) throw unknown;
    const tasks = selectTasks(selection, status);
    printer.several = tasks.length > 1;
    const shown = (task: string) => spokenName(status, task);
    printer.nameOf = shown;
    const unread = new UnreadTasks(shown);
    const silent = new Set<string>();
    const { read, printedTo } = executor
      ? await printExecutors(live, tasks, unread, options, printer)
      : await printOutputs(live, tasks, status.generation, { unread, silent }, options, printer);
    tellSilent([...silent].map(shown), filter, printer);
    unread.tell(printer, read.size > 0);
    return printedTo;
  } finally {
    link.close();
  }
}

interface ReadLogs {
  /** The tasks that could be read. */
  readonly read: ReadonlyMap<string, unknown>;
  readonly printedTo: PrintedTo;
}

async function printOutputs(
  live: LiveOutput,
  tasks: readonly TaskStatus[],
  generation: number,
  { unread, silent }: { readonly unread: UnreadTasks; readonly silent: Set<string> },
  { filter, follow }: LiveLogsOptions,
  printer: LogPrinter,
): Promise<ReadLogs> {
  const outputs = new Map<string, OrderedOutput>();
  for (const status of tasks) {
    const { task } = status;
    const output = await live.task(task, filter).catch((error) => (follow ? undefined : unread.add(status, error)));
    if (output === undefined) continue;
    outputs.set(task, output);
    const missing = missingGenerations(printer.nameOf(task), output.firstGeneration ?? generation, filter);
    if (missing !== undefined) printer.remark(missing);
    if (!follow) silent.add(task);
    try {
      for await (const line of lastOf(output.lines({ unfinished: !follow }), filter.tail)) {
        silent.delete(task);
        printer.line(task, line);
      }
    } catch (error) {
      silent.delete(task);
      unread.add(status, error);
    }
    const gone = missingOutput(printer.nameOf(task), output.missingBytes, filter);
    if (gone !== undefined) printer.remark(gone);
  }
  const printedTo: PrintedTo = (task, stream) =>
    stream === "stdout" || stream === "stderr" ? (outputs.get(task)?.endOf(stream) ?? 0) : 0;
  return { read: outputs, printedTo };
}

async function printExecutors(
  live: LiveOutput,
  tasks: readonly TaskStatus[],
  unread: UnreadTasks,
  { filter, follow }: LiveLogsOptions,
  printer: LogPrinter,
): Promise<ReadLogs> {
  const read = new Map<string, number>();
  for (const status of tasks) {
    const { task } = status;
    await printOwnLog(task, live.executor(task), filter, printer).then(
      (readTo) => read.set(task, readTo),
      (error) => (follow ? undefined : unread.add(status, error)),
    );
  }
  return { read, printedTo: (task) => read.get(task) ?? 0 };
}

/**
 * Prints the log of the AM, or of a task's executor.
 * @returns its length in bytes
 */
async function printOwnLog(
  task: string,
  log: AsyncIterable<OutputPiece>,
  filter: LineFilter,
  printer: LogPrinter,
): Promise<number> {
  const counted = new CountedPieces(log);
  const stream = task === "am" ? "stdout" : "executor";
  for await (const line of lastOf(ownLines(counted.pieces(), stream, filter), filter.tail)) printer.line(task, line);
  return counted.readTo;
}

/** The pieces of a log, and the offset that they reach. */
class CountedPieces {
  readTo = 0;
  readonly #log: AsyncIterable<OutputPiece>;

  constructor(log: AsyncIterable<OutputPiece>) {
    this.#log = log;
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    for await (const { offset, data } of this.#log) {
      this.readTo = offset + data.byteLength;
      yield data;
    }
  }
}
