import { leastInstances } from "../../../src/job/spec.ts";
import { discard } from "../containers/containers.ts";
import { isElastic, isShareDone, startsWithGang } from "../policies/restart.ts";
import { deadlineIn, dueMsOf } from "../state/deadlines.ts";
import type { GangState } from "../state/gang.ts";
import type { RoleState, TaskRecord } from "../state/records.ts";
import { askedOf, containerOf, findTask, gangOf, log, rolesOf, type Step, tasksOf } from "../state/step.ts";
import { BEFORE_START, moveTask } from "../state/task-moves.ts";

/**
 * A gang that has enough to start waits for the rest for a time: each task that joins later costs the others a restart of their
 * processes.
 */
export function watchRest(step: Step, gang: GangState): void {
  if (gang.phase !== "gathering" || hasAll(step, gang) || !hasEnough(step, gang)) {
    gang.restDeadline = undefined;
  } else {
    gang.restDeadline ??= deadlineIn(step, step.spec.timeouts.gangRestMs);
  }
}

/** Until when a gang waits that could start with the tasks it has; undefined where it need not, or cannot. */
export function restDueMs({ state }: Step, { restDeadline }: GangState): number | undefined {
  return restDeadline && dueMsOf(state, restDeadline);
}

/** Whether all tasks that start together are ready, or enough of them and the time for the others is up. */
export function isGathered(step: Step, gang: GangState): boolean {
  return (
    hasAll(step, gang) || (hasEnough(step, gang) && step.nowMs >= (restDueMs(step, gang) ?? Number.POSITIVE_INFINITY))
  );
}

/** Whether all tasks that start together are ready. */
function hasAll(step: Step, gang: GangState): boolean {
  return isReady(step, gang, (position, role) => lacking(step, position, role) <= 0);
}

/** The same without tasks of elastic roles that may join later. */
export function hasEnough(step: Step, gang: GangState): boolean {
  return isReady(step, gang, (position, role) => {
    const { instances, minInstances } = askedOf(step, { role: position });
    const maySpare = minInstances !== undefined && canMeet(step, position) && isQuiet(step, gang, position);
    const spare = maySpare ? instances - minInstances : 0;
    return lacking(step, position, role) <= spare;
  });
}

function isReady(step: Step, gang: GangState, hasThose: (position: number, role: RoleState) => boolean): boolean {
  const together = rolesOf(step, gang).filter(([position]) => startsWithGang(step, { role: position }));
  return together.length > 0 && together.every(([position, role]) => hasThose(position, role));
}

/** How many tasks are not ready; a sidecar that was given up is not waited for. */
function lacking(step: Step, position: number, { counts }: RoleState): number {
  const { instances, tracking } = askedOf(step, { role: position });
  return instances - counts.registered - (tracking === "sidecar" ? counts.failed : 0);
}

/**
 * Whether nothing of an earlier generation can still run: no executor is still preparing for this one, and none of an earlier attempt is
 * still being looked for.
 */
function isQuiet(step: Step, gang: GangState, position: number): boolean {
  const maySpeak = (task: TaskRecord) => containerOf(step, task)?.link === "rejoining";
  return tasksOf(step, gang).every((task) => task.role !== position || (task.phase !== "preparing" && !maySpeak(task)));
}

/** Whether the role's first task, at which the others meet, is ready. */
function canMeet(step: Step, position: number): boolean {
  return meetingPointOf(step, position)?.phase === "registered";
}

function meetingPointOf(step: Step, position: number): TaskRecord | undefined {
  const { name = "", first = 0 } = step.state.roles[position] ?? {};
  return findTask(step, `${name}:${first}`);
}

/** Whether a role that starts with its gang has containers for all tasks that it cannot start without. */
export function holdsEnough(step: Step, position: number, { counts }: RoleState): boolean {
  const role = askedOf(step, { role: position });
  const spare = meetingPointOf(step, position)?.phase === "waiting" ? 0 : role.instances - leastInstances(role);
  return counts.waiting <= spare;
}

/**
 * A task of an elastic role has exited with 0: tasks that have not joined the others by now are not needed, and their containers go back.
 */
export function dropRest(step: Step, ended: TaskRecord): void {
  const gang = gangOf(step, ended);
  if (gang.phase !== "running" || !isElastic(step, ended) || !isShareDone(step, ended)) {
    return;
  }
  for (const task of tasksOf(step, gang)) {
    if (task.role === ended.role && BEFORE_START.includes(task.phase)) {
      dropTask(step, task);
    }
  }
}

/** A task whose program does not run, and is not wanted any more. */
export function dropTask(step: Step, task: TaskRecord): void {
  const container = containerOf(step, task);
  moveTask(step, task, "not-needed");
  if (container !== undefined) {
    discard(step, container, "the others are done");
  }
  log(step, "info", "task-not-needed", `${task.id} is not started any more: the others are done.`, { task: task.id });
}
