import type { RoleSpec } from "../../../src/job/spec.ts";
import { stagesOf } from "../../../src/job/stages.ts";
import type { GangState } from "../state/gang.ts";
import type { RoleState, TaskRecord } from "../state/records.ts";
import { askedOf, gangOf, rolesOf, type Step } from "../state/step.ts";
import { AFTER_END } from "../state/task-moves.ts";
import { isElastic, isShareDone } from "./restart.ts";
import { isOfTasks, promotable } from "./trials.ts";

type Job = Pick<Step, "spec" | "state">;

/** The role whose task evaluates the checkpoints of the others: it may finish its last evaluation after they have ended. */
export const EVALUATOR = "evaluator";

/** Whether the gang has what it ran for: from then on no other failure of its tasks ends or restarts anything. */
export function chiefIsDone(step: Step, gang: GangState): boolean {
  const chiefs = trackedOf(step, gang).filter(([role]) => role.chief === "all");
  return chiefs.length > 0 && chiefs.every(([role, { counts }]) => counts.succeeded === role.instances);
}

/**
 * Whether a failure of the task has no consequences any more, because its gang has what it ran for. Tasks that nobody waits for serve the
 * gangs after theirs, and are still needed.
 */
export function isNeededNoMore(step: Step, task: TaskRecord): boolean {
  const gang = gangOf(step, task);
  return gang.phase === "done"
    ? askedOf(step, task).tracking === "tracked" || step.spec.trials !== undefined
    : chiefIsDone(step, gang);
}

/** Whether all of the gang's tracked tasks have ended, however they did. */
export function nobodyRunsOn(step: Step, gang: GangState): boolean {
  return trackedOf(step, gang).every(([role, counts]) => hasEnded(role, counts));
}

/** Whether all tasks of a role have ended, however they did. */
export function hasEnded({ instances }: RoleSpec, { counts }: Pick<RoleState, "counts">): boolean {
  return AFTER_END.reduce((sum, phase) => sum + counts[phase], 0) === instances;
}

export function othersMayRunOn(step: Step, gang: GangState): boolean {
  if (chiefIsDone(step, gang)) {
    return true;
  }
  const others = trackedOf(step, gang).filter(([role]) => role.name !== EVALUATOR);
  return others.length > 0 && others.every(([role, counts]) => isDone(step, role, counts));
}

function isDone(step: Step, role: RoleSpec, { counts }: RoleState): boolean {
  if (isOfTasks(step) && hasEnded(role, { counts }) && promotable(step) !== undefined) {
    return false;
  }
  const failed = step.spec.failure.onWorkerFailure === "tolerate" ? counts.failed + counts.lost : 0;
  return counts.succeeded + failed + notNeeded(step, role, counts) === role.instances;
}

/** Tasks of an elastic role that had not joined the others by the time these were done, and trials that were stopped early. */
function notNeeded(step: Step, { name }: RoleSpec, counts: RoleState["counts"]): number {
  if (isOfTasks(step)) {
    return counts.stopped;
  }
  const position = step.state.roles.findIndex((role) => role.name === name);
  return isElastic(step, { role: position }) && isShareDone(step, { role: position }) ? counts.stopped : 0;
}

/** Whether the job waits for anything of the gang. */
export function isWaitedFor(step: Step, gang: GangState): boolean {
  return trackedOf(step, gang).length > 0;
}

/** Whether the gang has what it runs for: each of its tracked tasks has succeeded, or failed in a way that is tolerated. */
export function isComplete(step: Step, gang: GangState): boolean {
  return trackedOf(step, gang).every(([role, counts]) => isDone(step, role, counts));
}

/** The roles of a gang that the job waits for. */
export function trackedOf(step: Job, gang: GangState): [RoleSpec, RoleState][] {
  return trackedAmong(step, rolesOf(step, gang));
}

/** The roles that the job waits for. */
export function tracked(step: Step): [RoleSpec, RoleState][] {
  return trackedAmong(step, [...step.state.roles.entries()]);
}

function trackedAmong(step: Job, roles: readonly [number, RoleState][]): [RoleSpec, RoleState][] {
  // A plain loop, as in `rolesOf`.
  const those: [RoleSpec, RoleState][] = [];
  for (const [position, counts] of roles) {
    const role = askedOf(step, { role: position });
    if (role.tracking === "tracked" && !step.state.untracked.includes(role.name)) {
      those.push([role, counts]);
    }
  }
  return those;
}

/** Nothing that happens to a sidecar ends the job or restarts the gang. */
export function isSidecar(step: Pick<Step, "spec" | "state">, task: TaskRecord): boolean {
  return askedOf(step, task).tracking === "sidecar";
}

/** Whether a failure of the task ends nothing: tolerance is set, and the task is no chief. */
export function toleratesFailure(step: Pick<Step, "spec" | "state">, task: TaskRecord): boolean {
  const role = askedOf(step, task);
  const isChief = role.chief === "all" || (role.chief === "first" && task.index === 0);
  const tolerated = step.spec.failure.onWorkerFailure === "tolerate" && role.tracking === "tracked" && !isChief;
  return (tolerated && !role.stopOnFailure) || isSidecar(step, task);
}

/** The roles whose stages must still be done before the gang's turn comes. */
export function awaitedBy({ spec, state }: Pick<Step, "spec" | "state">, { position }: GangState): string[] {
  const stages = stagesOf(spec.roles);
  const after = stages[position % stages.length]?.after ?? [];
  return after.filter((name) => {
    const role = state.roles.find((one) => one.name === name);
    return role !== undefined && state.gangs[role.gang]?.phase !== "done";
  });
}
