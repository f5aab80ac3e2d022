import type { Checkpoint } from "../../../src/job/execution.ts";
import { isShared } from "../../../src/job/shared-path.ts";
import { restartsWithGang } from "../policies/restart.ts";
import { isOfTasks, leadOf } from "../policies/trials.ts";
import type { GangState } from "../state/gang.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { about, containerOf, gangOf, log, noteDurable, record, type Step } from "../state/step.ts";

/** A program reports a complete checkpoint. One that is not shared counts only for its container, and only during the task's present life. */
export function checkpointSaved(step: Step, task: TaskRecord, saved: Checkpoint, isPresentLife: boolean): void {
  const container = containerOf(step, task);
  if (leadOf(step, task).checkpointsDropped !== undefined) {
    return;
  }
  const shared = isShared(saved.path, step.spec.checkpointDir);
  if (isPresentLife) {
    task.checkpointStep = saved.step;
  }
  const known = shared ? sharedCheckpoint(step, task) : container?.checkpoint;
  if ((!shared && (!isPresentLife || container === undefined)) || (known !== undefined && !isFurther(saved, known))) {
    return;
  }
  if (shared) {
    keeperOf(step, task).checkpoint = saved;
  } else if (container !== undefined) {
    container.checkpoint = saved;
  }
  noteDurable(step);
  step.changed = true;
  record(step, { type: "checkpoint", path: saved.path, step: saved.step }, task);
}

/** The furthest checkpoint that the task can read in any container. */
export function sharedCheckpoint(step: Step, task: TaskRecord): Checkpoint | undefined {
  return keeperOf(step, task).checkpoint;
}

/** Tasks of a gang go on from the furthest checkpoint that any of them saved; a trial of one task goes on from its own. */
function keeperOf(step: Step, task: TaskRecord): { checkpoint?: Checkpoint | undefined } {
  return isOfTasks(step) ? task : gangOf(step, task);
}

/** Where several tasks save at the same step, the checkpoint saved last is the further one. */
function isFurther(saved: Checkpoint, known: Checkpoint): boolean {
  return saved.step > known.step || (saved.step === known.step && saved.path !== known.path && saved.atMs > known.atMs);
}

/**
 * Decides what the programs that start now go on from: the furthest checkpoint that each of them can read. That is the shared one, or the ones
 * in their containers when each container has a checkpoint of the same step. All other checkpoints in these containers are dropped: a task that
 * goes on from an earlier step no longer has them.
 */
export function startingPoint(step: Step, gang: GangState, starting: readonly TaskRecord[]): Checkpoint | undefined {
  const [first] = starting;
  const shared = first === undefined ? gang.checkpoint : sharedCheckpoint(step, first);
  const own = commonCheckpoint(step, starting);
  const isOwn = own !== undefined && (shared === undefined || own.step > shared.step);
  for (const task of starting) {
    const container = containerOf(step, task);
    if (container !== undefined && !isOwn) {
      dropCheckpoint(step, container, "not every task that starts with it can read it");
    }
  }
  return isOwn ? own : shared;
}

function commonCheckpoint(step: Step, starting: readonly TaskRecord[]): Checkpoint | undefined {
  const [first, ...others] = starting.map((task) => containerOf(step, task)?.checkpoint);
  return others.every((other) => other?.step === first?.step) ? first : undefined;
}

/**
 * The checkpoint that a task's program is told to go on from; empty: none. One left by an earlier job counts until this job has a checkpoint,
 * because its steps may be numbered differently. All tasks of a gang are told the same one, however late the order to start arrives; a task
 * that joins a running gang is told the latest, which is certain to be kept.
 */
export function checkpointOf(step: Step, task: TaskRecord): string {
  const gang = gangOf(step, task);
  const point =
    restartsWithGang(step, task) && !task.late ? gang.generations.at(-1)?.resumedFrom : sharedCheckpoint(step, task);
  return (containerOf(step, task)?.checkpoint ?? point)?.path ?? step.spec.resumeFrom ?? "";
}

/** A container's own checkpoint goes back with the container, or is passed over. This is logged when no checkpoint that counts is as far. */
export function dropCheckpoint(step: Step, container: ContainerRecord, why: string): void {
  const { state } = step;
  const { checkpoint } = container;
  if (checkpoint === undefined) {
    return;
  }
  container.checkpoint = undefined;
  const task = state.tasks[step.positions.get(container.task) ?? -1];
  const gang = gangOf(step, container);
  if (task?.checkpointStep === checkpoint.step) {
    task.checkpointStep = 0;
  }
  if (checkpoint.step <= Math.max(gang.checkpoint?.step ?? -1, gang.droppedCheckpoint?.step ?? -1)) {
    return;
  }
  gang.droppedCheckpoint = { ...checkpoint, task: container.task };
  noteDurable(step);
  step.changed = true;
  log(
    step,
    "warn",
    "checkpoint-dropped",
    `The checkpoint of step ${checkpoint.step} that ${container.task} keeps in its container does not count, ${why}: ${checkpoint.path}. tony.checkpoint.local-dir brings checkpoints to a folder that stays.`,
    task === undefined ? {} : about(task),
  );
}

/** The job ends: its containers go back, with the checkpoints in them. */
export function dropAllCheckpoints(step: Step): void {
  for (const container of Object.values(step.state.containers)) {
    dropCheckpoint(step, container, "its container goes back");
  }
}
