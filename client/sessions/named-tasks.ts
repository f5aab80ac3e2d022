import { UserError } from "../../src/errors.ts";
import { isOfTrial, shownNameInTrial, spokenName } from "../../src/job/search/trial-tasks.ts";
import type { JobStatus } from "../../src/job/status.ts";
import type { ClientContext } from "../context.ts";
import { statusNow } from "../master/attempt-connection.ts";
import type { MasterConnection } from "../master/master-connection.ts";
import { connectRunningJob } from "./running-job.ts";

/** The tasks that a name stands for, and the name shown for each. */
interface Meant {
  readonly tasks: readonly string[];
  readonly nameOf: (task: string) => string;
}

type Asked = Pick<MasterConnection, "follow">;

/** The tasks that a person means: the task of that name, or for `trial:17` or `trial:17/ps:0` of a search the trial's. */
export function tasksMeant(status: JobStatus, name: string): string[] {
  if (!isByTrial(name)) return [name];
  return status.tasks.map(({ task }) => task).filter((task) => isOfTrial(shownNameInTrial(status, task), name));
}

/** The same where it has to be a single task; undefined where there is none. @throws UserError `NO_SUCH_TASK`: there are several */
export function taskMeant(status: JobStatus, name: string): string | undefined {
  const tasks = tasksMeant(status, name);
  return tasks.length === 0 ? undefined : only(name, tasks, (task) => spokenName(status, task));
}

/**
 * The tasks of a running job that a name stands for.
 * @throws UserError `NO_SUCH_TASK`: it has no such trial. Any other unknown name is refused by its AM
 */
export async function tasksMeantOf(master: Asked, name: string): Promise<readonly string[]> {
  return (await meantOf(master, name)).tasks;
}

async function meantOf(master: Asked, name: string): Promise<Meant> {
  if (!isByTrial(name)) return { tasks: [name], nameOf: (task) => task };
  const status = await statusNow(master);
  const tasks = status === undefined ? [] : tasksMeant(status, name);
  if (status === undefined || tasks.length === 0)
    throw new UserError(`The job has no ${name}`, { code: "NO_SUCH_TASK" });
  return { tasks, nameOf: (task) => spokenName(status, task) };
}

/**
 * The connection to a running job's AM, and the one task that is meant.
 * @throws UserError as connectRunningJob, and `NO_SUCH_TASK`
 */
export async function connectTask(
  id: string,
  name: string,
  conf: readonly string[] | undefined,
  context: ClientContext,
): Promise<Connected<MasterConnection>> {
  return await onlyTaskOf(await connectRunningJob(id, conf, context), name);
}

interface Connected<Master> {
  readonly master: Master;
  readonly task: string;
}

/** The one task that is meant, and the connection, which is closed where there is no such task. */
export async function onlyTaskOf<Master extends Asked & { close(): void }>(
  master: Master,
  name: string,
): Promise<Connected<Master>> {
  try {
    const { tasks, nameOf } = await meantOf(master, name);
    return { master, task: only(name, tasks, nameOf) };
  } catch (error) {
    master.close();
    throw error;
  }
}

function isByTrial(name: string): boolean {
  return name.startsWith("trial:");
}

function only(name: string, tasks: readonly string[], nameOf: Meant["nameOf"]): string {
  const [task = name, ...others] = tasks;
  if (others.length === 0) return task;
  const message = `${name} has several tasks (${tasks.map(nameOf).join(", ")}): name one of them`;
  throw new UserError(message, { code: "NO_SUCH_TASK" });
}
