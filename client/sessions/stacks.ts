import { Readable, Writable } from "node:stream";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorCode, errorMessage } from "../../src/hadoop/errors.ts";
import { sizeWords } from "../../src/job/reasons/words.ts";
import { groupPlaces, leadingProcesses, placeWords, readProcessStacks } from "../../src/job/stacks.ts";
import { statusNow } from "../master/attempt-connection.ts";
import type { MasterConnection } from "../master/master-connection.ts";
import type { StacksJson, TaskStacks } from "../printed-json.ts";
import { tasksMeantOf } from "./named-tasks.ts";
import { runCommand } from "./run-command.ts";

/** How many tasks are asked at the same time. */
const AT_ONCE = 32;
/** The limit per task: the executor's answer is not trusted. */
const MOST_BYTES = 16 * 1024 * 1024;

type Asked = Pick<MasterConnection, "openSession" | "follow">;

/**
 * The stacks of the running tasks, or of the named ones: `worker:0`, or `trial:17` of a search.
 * @throws UserError `NO_SUCH_TASK`, `NOT_RUNNING`: none runs its program; ApiError: the AM refuses it
 */
export async function stacksJson(master: Asked, task: string | undefined): Promise<StacksJson> {
  const names = task === undefined ? await runningTasks(master) : await tasksMeantOf(master, task);
  const isNamed = task !== undefined && names.length === 1;
  const tasks: TaskStacks[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) {
    tasks.push(...(await Promise.all(names.slice(at, at + AT_ONCE).map((name) => stacksOf(master, name, isNamed)))));
  }
  return { tasks, groups: groupPlaces(tasks.flatMap(placesOf)) };
}

/** Where processes are, then every stack. */
export function stacksLines({ tasks, groups }: StacksJson): string[] {
  const known = groups.reduce((sum, { who }) => sum + who.length, 0);
  return [...groups.map((group) => placeWords(group, known)), ...tasks.flatMap(taskLines)];
}

function taskLines({ task, processes, why }: TaskStacks): string[] {
  if (why !== undefined) return ["", `${task}  ${why}`];
  // A shell that waits for Python is not worth a line.
  const hasPython = processes.some(({ stacks }) => stacks !== undefined);
  const shown = processes.filter(({ stacks, program }) => !hasPython || stacks !== undefined || isPython(program));
  return shown.flatMap(({ pid, program, stacks, why: whyNot }) => [
    "",
    `${task}  ${program} (process ${pid})${whyNot === undefined ? "" : `: no stacks, ${whyNot}`}`,
    ...(stacks ?? "")
      .trimEnd()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => `  ${line}`),
  ]);
}

function isPython(program: string): boolean {
  return program.startsWith("python");
}

/** The place of each process, with its id where several processes of a task have one. */
function placesOf({ task, processes }: TaskStacks): (readonly [string, string])[] {
  const leading = leadingProcesses(processes);
  return leading.map(({ pid, place }) => [leading.length === 1 ? task : `${task} (process ${pid})`, place.where]);
}

async function runningTasks(master: Asked): Promise<readonly string[]> {
  const { tasks = [] } = (await statusNow(master)) ?? {};
  const running = tasks.filter(({ state }) => state === "running").map(({ task }) => task);
  if (running.length > 0) return running;
  throw new UserError("No task runs its program at present", { code: "NOT_RUNNING", exitCode: ExitCode.cluster });
}

/** @throws as stacksJson, except where one of several tasks cannot be asked */
async function stacksOf(master: Asked, task: string, isOnly: boolean): Promise<TaskStacks> {
  const session = master.openSession(task, { type: "stacks" });
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= MOST_BYTES) chunks.push(chunk);
      else session.cancel();
      done();
    },
  });
  try {
    await runCommand(session, { stdin: Readable.from([]), stdout, stderr: stdout }, () => undefined);
    const text = Buffer.concat(chunks).toString();
    return { task, processes: readProcessStacks(JSON.parse(text), "") };
  } catch (cause) {
    const words = `${task} sends more than ${sizeWords(MOST_BYTES)}, too much for stacks`;
    const error = bytes <= MOST_BYTES ? cause : new UserError(words, { code: "SESSION_FAILED", cause });
    if (isOnly || errorCode(error) !== "SESSION_FAILED") throw error;
    return { task, processes: [], why: errorMessage(error) };
  }
}
