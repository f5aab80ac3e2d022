import type { OutputStream } from "../../src/api/messages.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { Applications } from "../applications/applications.ts";
import { connectMaster } from "../master/master-connection.ts";
import type { MasterLink } from "../master/master-link.ts";
import { LineSplitter } from "./line-splitter.ts";
import { LiveOutput } from "./live-output.ts";
import type { LogPrinter } from "./log-printer.ts";
import {
  type LogsRequest,
  missingGenerations,
  missingOutput,
  noSuchGeneration,
  noSuchTask,
  selectTasks,
  taskNames,
} from "./log-selection.ts";
import { isWanted, masterLine } from "./master-log.ts";
import { type LineFilter, lastOf, type OrderedOutput, type OutputLine, type OutputPiece } from "./ordered-output.ts";
import { tellSilent } from "./silent-tasks.ts";
import { UnreadTasks } from "./unread-tasks.ts";

/** Where what was printed ends: a byte of a task's stream, 0 where nothing was. */
export type PrintedTo = (task: string, stream: OutputStream) => number;

export interface LiveLogsOptions extends LogsRequest {
  /** It is followed afterwards: a task without a program is no error, and a line that has not ended waits for its end. */
  readonly follow: boolean;
}

/** Prints what there is of logs of a job that runs, through its AM. Undefined when that cannot be asked. */
export async function liveLogs(
  applications: Applications,
  { report, selection, filter, follow }: LiveLogsOptions,
  printer: LogPrinter,
): Promise<PrintedTo | undefined> {
  const contact = await applications.contact(report);
  if (contact === undefined) return undefined;
  const link = connectMaster(contact);
  try {
    const status = await firstStatus(link);
    const live = new LiveOutput(link, applications.logStore(report), status);
    if (selection.kind === "master") {
      const printed = await printMasterLog(live.master(), filter, printer);
      return () => printed;
    }
    const unknown = noSuchTask(selection, taskNames(status)) ?? noSuchGeneration(filter, status.generation);
    if (unknown !== undefined) throw unknown;
    const tasks = selectTasks(selection, status);
    printer.several = tasks.length > 1;
    const outputs = new Map<string, OrderedOutput>();
    const unread = new UnreadTasks();
    const silent = new Set<string>();
    for (const { task, state } of tasks) {
      const output = await live
        .task(task, filter)
        .catch((error) => (follow ? undefined : unread.add(task, state, error)));
      if (output === undefined) continue;
      outputs.set(task, output);
      const missing = missingGenerations(task, output.firstGeneration ?? status.generation, filter);
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
    return (task, stream) => outputs.get(task)?.endOf(stream) ?? 0;
  } finally {
    link.close();
  }
}

/** @returns how many bytes of it there were */
async function printMasterLog(
  log: AsyncIterable<OutputPiece>,
  filter: LineFilter,
  printer: LogPrinter,
): Promise<number> {
  let readTo = 0;
  async function* lines(): AsyncGenerator<OutputLine> {
    const splitter = new LineSplitter();
    for await (const { offset, data } of log) {
      readTo = offset + data.byteLength;
      for (const line of [...splitter.push(data)].map(masterLine)) if (isWanted(line, filter)) yield line;
    }
  }
  for await (const line of lastOf(lines(), filter.tail)) printer.line("am", line);
  return readTo;
}

async function firstStatus(link: MasterLink): Promise<JobStatus> {
  for await (const update of link.follow(new AbortController().signal)) {
    if (update.type === "status") return update.status;
  }
  throw new RangeError("the AM tells no state");
}
