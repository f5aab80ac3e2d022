import type { TaskEnd } from "../../../src/api/messages.ts";
import type { TaskId } from "../../../src/job/task.ts";
import type { Core } from "../core.ts";
import { isRestarting } from "../state/gang-moves.ts";
import type { TaskRecord } from "../state/records.ts";
import { gangOf, roleOf } from "../state/step.ts";
import { AFTER_END } from "../state/task-moves.ts";

/** How the tasks of these roles ended, except the one that asks; undefined: one of them runs, or may start again. */
export function endsOf(
  core: Pick<Core, "spec" | "state">,
  asking: TaskId,
  roles: readonly string[],
): readonly TaskEnd[] | undefined {
  const { phase, tasks } = core.state;
  const isMeant = (task: TaskRecord) => task.id !== asking && roles.includes(roleOf(core, task).name);
  // A later attempt must first read the journal.
  if (phase === "starting" || tasks.some((task) => isMeant(task) && !hasEndedForGood(core, task))) {
    return undefined;
  }
  return tasks.filter(isMeant).map(({ id, phase: state, exit }) => ({ task: id, state, exit }));
}

/** Until the consequences of a failure are decided, its gang may start again. */
function hasEndedForGood({ state }: Pick<Core, "state">, task: TaskRecord): boolean {
  const gang = gangOf({ state }, task);
  const isDecided = state.outcome !== undefined || (gang.verdicts.length === 0 && !isRestarting(gang));
  return AFTER_END.includes(task.phase) && isDecided;
}
