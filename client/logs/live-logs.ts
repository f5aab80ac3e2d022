import type { LogStream } from "../../src/api/messages.ts";
import type { TaskStatus } from "../../src/job/status.ts";
import { type LineFilter, lastOf, type OrderedOutput, type OutputPiece } from "../../src/logs/ordered-output.ts";
import { ownLines } from "../../src/logs/own-log.ts";
import type { Applications } from "../applications/applications.ts";
import { statusNow } from "../master/attempt-connection.ts";
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
  selectTasks,
  taskNames,
} from "./log-selection.ts";
import { tellSilent } from "./silent-tasks.ts";
import { UnreadTasks } from "./unread-tasks.ts";

/** Where what was printed ends: a byte of a task's stream, 0 where nothing was. */
export type PrintedTo = (task: string, stream: LogStream) => number;

export interface LiveLogsOptions extends LogsRequest {
  /** It is followed afterwards: a task without a program is no error, and a line that has not ended waits for its end. */
  readonly follow: boolean;
}

/** Prints what there is of logs of a job that runs, through its AM. Undefined when that cannot be asked. */
export async function liveLogs(
  applications: Applications,
  options: LiveLogsOptions,
  printer: LogPrinter,
): Promise<PrintedTo | undefined> {
  const { report, selection, filter, executor } = options;
  const contact = await applications.contact(report);
  if (contact === undefined) return undefined;
  const link = connectMaster(contact);
  try {
    const status = await statusNow(link);
    if (status === undefined) throw new RangeError("the AM does not tell its state");
    const live = new LiveOutput(link, applications.logStore(report), status);
    if (selection.kind === "master") {
      const printed = await printOwnLog("am", live.master(), filter, printer);
      return () => printed;
    }
    const unknown =
      noSuchTask(byTaskOf(selection, status), taskNames(status)) ?? noSuchGeneration(filter, status.generation);
    if (unknown !== undefined) throw unknown;
    const tasks = selectTasks(selection, status);
    printer.several = tasks.length > 1;
    return executor
      ? await printExecutors(live, tasks, options, printer)
      : await printOutputs(live, tasks, status.generation, options, printer);
  } finally {
    link.close();
  }
}

async function printOutputs(
  live: LiveOutput,
  tasks: readonly TaskStatus[],
  generation: number,
  { filter, follow }: LiveLogsOptions,
  printer: LogPrinter,
): Promise<PrintedTo> {
  const outputs = new Map<string, OrderedOutput>();
  const unread = new UnreadTasks();
  const silent = new Set<string>();
  for (const { task, state } of tasks) {
    const output = await live
      .task(task, filter)
      .catch((error) => (follow ? undefined : unread.add(task, state, error)));
    if (output === undefined) continue;
    outputs.set(task, output);
    const missing = missingGenerations(task, output.firstGeneration ?? generation, filter);
    if (missing !== undefined) printer.remark(missing);
    if (!follow) silent.add(task);
    for await (const line of lastOf(output.lines({ unfinished: !follow }), filter.tail)) {
      silent.delete(task);
      printer.line(task, line);
    }
    const gone = missingOutput(task, output.missingBytes, filter);
    if (gone !== undefined) printer.remark(gone);
  }
  tellSilent([...silent], filter, printer);
  unread.tell(printer);
  return (task, stream) => (stream === "stdout" || stream === "stderr" ? (outputs.get(task)?.endOf(stream) ?? 0) : 0);
}

async function printExecutors(
  live: LiveOutput,
  tasks: readonly TaskStatus[],
  { filter, follow }: LiveLogsOptions,
  printer: LogPrinter,
): Promise<PrintedTo> {
  const printed = new Map<string, number>();
  const unread = new UnreadTasks();
  for (const { task, state } of tasks) {
    await printOwnLog(task, live.executor(task), filter, printer).then(
      (readTo) => printed.set(task, readTo),
      (error) => (follow ? undefined : unread.add(task, state, error)),
    );
  }
  unread.tell(printer);
  return (task) => printed.get(task) ?? 0;
}

/**
 * Prints the log of the AM, or of a task's executor.
 * @returns how many bytes of it there were
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

/** Pieces of a log, and how far they reach. */
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
