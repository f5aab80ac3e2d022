import type { LogStream } from "../../src/api/messages.ts";
import type { Applications } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import { connectMaster } from "../following/master-connection.ts";
import type { MasterLink } from "../following/master-link.ts";
import { LineSplitter } from "./line-splitter.ts";
import { type LogSelection, type LogsRequest, noSuchTask, selectTasks, taskNames } from "./log-selection.ts";

/** One stream to print; the name stands before its lines where there are several. */
interface Wanted {
  readonly task: string;
  readonly stream: LogStream;
}

/** Prints logs through the AM of a job that runs. False when it cannot be asked. */
export async function liveLogs(
  applications: Applications,
  { report, selection, master, follow }: LogsRequest,
  { output }: ClientContext,
): Promise<boolean> {
  const contact = await applications.contact(report);
  if (contact === undefined) return false;
  const link = connectMaster(contact);
  try {
    const wanted = master ? [{ task: "am", stream: "stdout" as const }] : await wantedStreams(link, selection);
    const several = new Set(wanted.map(({ task }) => task)).size > 1;
    const print = async ({ task, stream }: Wanted) => {
      for await (const line of lines(link, { task, stream }, follow)) {
        const text = several ? `${task} | ${line}` : line;
        if (stream === "stdout") output.print(text);
        else output.problem(text);
      }
    };
    if (follow) await Promise.all(wanted.map(print));
    else for (const one of wanted) await print(one);
    return true;
  } finally {
    link.close();
  }
}

async function* lines(link: MasterLink, { task, stream }: Wanted, follow: boolean): AsyncGenerator<string, void> {
  const splitter = new LineSplitter();
  const request = { task, stream, offset: 0, follow };
  for await (const { data } of link.readLog(request, new AbortController().signal)) yield* splitter.push(data);
  yield* splitter.end();
}

async function wantedStreams(link: MasterLink, selection: LogSelection): Promise<Wanted[]> {
  for await (const update of link.follow(new AbortController().signal)) {
    if (update.type !== "status") continue;
    const unknown = noSuchTask(selection, taskNames(update.status));
    if (unknown !== undefined) throw unknown;
    return selectTasks(selection, update.status).flatMap(({ task }) => [
      { task, stream: "stdout" as const },
      { task, stream: "stderr" as const },
    ]);
  }
  return [];
}
