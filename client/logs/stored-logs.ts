import { ExitCode, UserError } from "../../src/errors.ts";
import { sleep } from "../../src/hadoop/clock.ts";
import type { ContainerId } from "../../src/hadoop/yarn/records.ts";
import type { Applications } from "../applications/applications.ts";
import type { ClientContext } from "../context.ts";
import { formatWholeSeconds } from "../output/format.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { LogSelection, LogsRequest } from "./log-selection.ts";
import type { LogStore } from "./log-store.ts";

/** The AM's own log, and a program's output, in the log folders of their containers. */
const masterLog = "am.log";
const programLogs: readonly string[] = ["stdout", "stderr"];
/** NodeManagers upload within seconds of an application's end. */
const patienceMs = 60_000;
const lookAgainMs = 1_000;

/** Prints the logs of an application that has ended, or whose AM cannot be asked; waits for their upload, and says so. */
export async function storedLogs(
  applications: Applications,
  request: LogsRequest,
  context: ClientContext,
): Promise<void> {
  const { id } = request.report;
  const store = applications.logStore(request.report);
  const master = await awaitMasterLog(store, context);
  if (master === undefined) throw nothingThere(id, store);
  if (request.master) {
    context.output.print(master);
    return;
  }
  const tasks = selectContainers(tasksByContainer(master), request.selection);
  if (tasks.size === 0) throw noSuchTask(id, request.selection, master);
  const several = new Set(tasks.values()).size > 1 || tasks.size > 1;
  for await (const { containerId, name, content } of store.logs((container) => tasks.has(container))) {
    const task = tasks.get(containerId);
    if (task === undefined || !programLogs.includes(name)) continue;
    const print = (line: string) => {
      const text = several ? `${task} | ${line}` : line;
      if (name === "stdout") context.output.print(text);
      else context.output.problem(text);
    };
    const splitter = new LineSplitter();
    for await (const piece of content) for (const line of splitter.push(piece)) print(line);
    for (const line of splitter.end()) print(line);
  }
}

/** The AM's log, of all its attempts; undefined when it does not come. */
async function awaitMasterLog(store: LogStore, { output, now }: ClientContext): Promise<string | undefined> {
  const startedAtMs = now();
  for (;;) {
    const text = await readMasterLogs(store);
    const waitedMs = now() - startedAtMs;
    if (text !== undefined || store.pending === undefined || waitedMs > patienceMs) {
      output.endWait();
      return text;
    }
    const line = `${store.pending}, ${formatWholeSeconds(waitedMs)} (up to ${patienceMs / 1000} s)`;
    output.waitAside({ lines: [line], cause: store.pending, line, change: "", facts: [] });
    await sleep(lookAgainMs);
  }
}

async function readMasterLogs(store: LogStore): Promise<string | undefined> {
  const parts: string[] = [];
  for await (const { name, content } of store.logs(isMaster)) {
    if (name !== masterLog) continue;
    const bytes: Uint8Array[] = [];
    for await (const piece of content) bytes.push(piece);
    parts.push(Buffer.concat(bytes).toString("utf8"));
  }
  return parts.length === 0 ? undefined : parts.join("");
}

/** YARN starts every attempt's AM in the first container of the attempt. */
function isMaster(containerId: ContainerId): boolean {
  return containerId.endsWith("_000001");
}

/** Which task ran in which container, from the lines of the AM's log that name both. */
export function tasksByContainer(masterLogText: string): Map<ContainerId, string> {
  const tasks = new Map<ContainerId, string>();
  for (const line of masterLogText.split("\n")) {
    const { task, container } = fieldsOf(line);
    if (typeof task === "string" && typeof container === "string") tasks.set(container, task);
  }
  return tasks;
}

function fieldsOf(line: string): { readonly task?: unknown; readonly container?: unknown } {
  if (!line.startsWith("{")) return {};
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    // A line that was cut when the AM was killed.
    return {};
  }
}

function selectContainers(tasks: ReadonlyMap<ContainerId, string>, selection: LogSelection): Map<ContainerId, string> {
  const names = [...new Set(tasks.values())];
  const lead = ["chief:0", "worker:0"].find((task) => names.includes(task)) ?? names.sort()[0];
  const chosen = (task: string) => {
    if (selection.kind === "named") return selection.names.some((name) => task === name || task.startsWith(`${name}:`));
    return selection.kind === "all" || (selection.kind === "lead" && task === lead);
  };
  return new Map([...tasks].filter(([, task]) => chosen(task)));
}

function nothingThere(id: string, { pending }: LogStore): UserError {
  const why = pending === undefined ? "" : `: ${pending}, which has not brought any. tony-ts logs ${id} tries again`;
  return new UserError(`There are no logs of ${id}${why}`, { code: "NO_LOGS", exitCode: ExitCode.cluster });
}

function noSuchTask(id: string, selection: LogSelection, master: string): UserError {
  const known = [...new Set(tasksByContainer(master).values())].sort();
  if (known.length === 0) {
    return new UserError(`No task of ${id} ever had a container: tony-ts logs ${id} am says more`, { code: "NO_LOGS" });
  }
  const asked = selection.kind === "named" ? selection.names.join(", ") : selection.kind;
  return new UserError(`${id} had no task ${asked}; it had ${known.join(", ")}`, { code: "NO_SUCH_TASK" });
}
