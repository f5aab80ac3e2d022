import type { Life } from "../../../src/job/store/transaction.ts";
import type { TaskId } from "../../../src/job/task.ts";
import { mayMove } from "../../../src/moves.ts";
import { linkEnding } from "../failures/endings.ts";
import { containerGone } from "../failures/losses.ts";
import { awaitOf } from "../state/deadlines.ts";
import type { Launch } from "../state/effects.ts";
import type { Event } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { TaskPhase } from "../state/records.ts";
import type { CoreState } from "../state/state.ts";
import { gangOf, log, type Step, tenantOf } from "../state/step.ts";
import { moveTask, TASK } from "../state/task-moves.ts";

/** The task that a container is held for, and its generation. */
export function launchIn({ containers }: Pick<CoreState, "containers">, containerId: string): Launch | undefined {
  const container = containers[containerId];
  if (container?.phase !== "held") {
    return undefined;
  }
  const { task, generation } = container;
  return { containerId, task, generation };
}

/** The container in which a task's program ended, though it is another task's now or goes back; undefined while the task has its own. */
export function lastContainerOf({ tasks }: Pick<CoreState, "tasks">, task: TaskId): string | undefined {
  return tasks.find(({ id }) => id === task)?.lastContainer?.id;
}

/** The present life of a task, from the allocation of its container until its program has ended; undefined: it has none. */
export function lifeOf({ tasks }: Pick<CoreState, "tasks">, task: TaskId): Life | undefined {
  const found = tasks.find(({ id }) => id === task);
  if (found === undefined || lifeless.includes(found.phase)) {
    return undefined;
  }
  return { task, generation: found.generation };
}

/** The same with its host and the generation of its gang, which all tasks that began together have in common. */
export function lifeInGang(
  state: CoreState,
  task: TaskId,
): { readonly generation: number; readonly gang: number; readonly host?: string } | undefined {
  const found = state.tasks.find(({ id }) => id === task);
  const life = lifeOf(state, task);
  if (found === undefined || life === undefined) return undefined;
  const { generation: gang } = gangOf({ state }, found);
  const { host } = state.containers[found.containerId] ?? {};
  return { generation: life.generation, gang, ...(host !== undefined && { host }) };
}

/** How that life of the task ended: `gone` unless its program ended by itself. */
export function endOf(
  { tasks }: Pick<CoreState, "tasks">,
  task: TaskId,
  generation: number,
): "succeeded" | "failed" | "gone" {
  const { phase } = tasks.find(({ id, ...life }) => id === task && life.generation === generation) ?? {};
  return phase === "succeeded" || phase === "failed" ? phase : "gone";
}

const lifeless: readonly TaskPhase[] = ["waiting", "succeeded", "failed", "stopped", "lost"];

/** The NodeManager accepted the launch: files are being localised. */
export function launchSucceeded(step: Step, containerId: string): void {
  const container = step.state.containers[containerId];
  const task = container === undefined ? undefined : tenantOf(step, container);
  if (container === undefined || task === undefined || !mayMove(TASK, task.phase, "launch-accepted")) {
    return;
  }
  moveTask(step, task, "launch-accepted");
  const { registrationMs } = step.spec.timeouts;
  if (registrationMs !== undefined) {
    awaitOf(step, container, "registration", registrationMs);
  }
}

export function launchFailed(step: Step, event: Extract<Event, { type: "launch-failed" }>): void {
  const container = step.state.containers[event.containerId];
  const task = container === undefined ? undefined : tenantOf(step, container);
  if (container === undefined || task === undefined) {
    return;
  }
  log(step, "warn", "launch-failed", `${task.id} could not be launched on ${container.host}: ${event.message}`, {
    task: task.id,
    container: container.id,
  });
  const failure = linkEnding(step, task, container, { code: "launch-failed", message: event.message });
  const ending: Ending = event.nodeAtFault ? failure : { ...failure, machine: false, refused: true };
  containerGone(step, container, ending, "its launch failed");
}
