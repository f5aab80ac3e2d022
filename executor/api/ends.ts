import type { TaskEnd } from "../../src/api/messages.ts";
import type { ProgramStart } from "../../src/frameworks/task-program.ts";
import type { MasterLink } from "../master/master-link.ts";
import { CallError, overAfter, timeoutIn } from "./call.ts";
import { untilAnswered } from "./until-answered.ts";

/** Answers when all tasks of these roles have ended, except the one that asks. */
export type AwaitEnds = (roles: readonly string[], over: AbortSignal) => Promise<readonly TaskEnd[]>;

/**
 * How the tasks of these roles ended, by default of those that the job waits for, without the task's own role.
 * @throws CallError
 */
export async function endsOf(
  { spec, task }: Pick<ProgramStart, "spec" | "task">,
  query: URLSearchParams,
  awaitEnds: AwaitEnds,
  gone: AbortSignal,
): Promise<{ readonly tasks: readonly TaskEnd[] }> {
  const awaited = spec.roles.filter(({ tracking, name }) => tracking === "tracked" && name !== task.role);
  const roles = query.get("roles")?.split(",") ?? awaited.map(({ name }) => name);
  const unknown = roles.find((role) => !spec.roles.some(({ name }) => name === role));
  if (unknown !== undefined) throw new CallError(400, "BAD_CALL", `the job has no role ${unknown}`);
  const over = overAfter(timeoutIn(query).timeoutMs, gone);
  try {
    return { tasks: await awaitEnds(roles, over) };
  } catch (error) {
    if (!over.aborted) throw error;
    throw new CallError(408, "ENDS_TIMEOUT", `not all tasks of ${roles.join(", ")} have ended`);
  }
}

/** @throws CallError */
export async function awaitEnds(
  link: () => Pick<MasterLink, "awaitEnds" | "connected">,
  roles: readonly string[],
  over: AbortSignal,
  pause?: (ms: number) => Promise<unknown>,
): Promise<readonly TaskEnd[]> {
  const ask = (timeoutMs: number) => link().awaitEnds({ roles }, timeoutMs, over);
  const { tasks } = await untilAnswered(link, ask, over, { away: "ENDS_AWAY", ...(pause && { pause }) });
  return tasks;
}
