import { blame } from "./blame.ts";
import { discard, removeContainer } from "./containers.ts";
import { containerEnding } from "./endings.ts";
import type { Event } from "./events.ts";
import { finish } from "./finish.ts";
import { renewTask } from "./generation.ts";
import { isMember, joinNext } from "./restart.ts";
import type { ContainerRecord, Ending, TaskRecord } from "./state.ts";
import { findTask, log, type Step, tenantOf } from "./step.ts";
import { ALIVE, BEFORE_START, moveTask } from "./transitions.ts";
import { accountFor, lateEvidence, taskFailed } from "./verdict.ts";

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

/** YARN's word that a container is over: the last one about it. */
export function containerCompleted(step: Step, event: Of<"container-completed">): void {
  const container = step.state.containers[event.containerId];
  if (container === undefined) {
    step.state.ended[event.containerId] = true;
    return;
  }
  const task = findTask(step, container.task);
  const byUs = container.phase === "discarded" && (event.exitStatus === -100 || event.exitStatus === -105);
  const ending =
    task === undefined ? undefined : containerEnding(step, task, container, event.exitStatus, event.diagnostics);
  if (container.phase === "unclaimed") {
    step.state.unclaimed[container.role] = Math.max(0, (step.state.unclaimed[container.role] ?? 0) - 1);
  }
  if (ending !== undefined && container.phase === "held") {
    containerGone(step, container, ending, "");
  } else if (ending !== undefined && !byUs) {
    lateEvidence(step, ending);
  }
  accountFor(step, container.id);
  removeContainer(step, container);
  step.changed = true;
}

/** A container cannot be used any longer. What that means depends on how far its task had come. */
export function containerGone(step: Step, container: ContainerRecord, ending: Ending, discardReason: string): void {
  const task = tenantOf(step, container);
  if (task === undefined) {
    return;
  }
  if (discardReason === "") {
    container.phase = "discarded";
    container.discardReason = "completed";
    task.containerId = "";
  } else {
    discard(step, container, discardReason);
  }
  step.state.journal.dirty = true;
  if (ALIVE.includes(task.phase)) {
    lostWhileRunning(step, task, ending);
  } else if (BEFORE_START.includes(task.phase)) {
    lostBeforeStart(step, task, ending);
  } else {
    lateEvidence(step, ending);
  }
}

function lostWhileRunning(step: Step, task: TaskRecord, ending: Ending): void {
  moveTask(step, task, ALIVE, "lost");
  task.endedAtMs = ending.atMs;
  task.exit = ending.exit;
  if (step.state.phase !== "finishing") {
    log(step, "warn", "task-lost", `${ending.summary}.`, { task: task.id, container: ending.containerId });
  }
  taskFailed(step, task, ending);
  joinNext(step, task);
}

/** Nothing has started in it yet: another container takes its place and no generation ends. */
function lostBeforeStart(step: Step, task: TaskRecord, ending: Ending): void {
  const { state, spec } = step;
  if (state.phase === "finishing") {
    moveTask(step, task, BEFORE_START, "stopped");
    return;
  }
  if (state.started && state.phase === "running" && isMember(step, task)) {
    moveTask(step, task, BEFORE_START, "lost");
    taskFailed(step, task, ending);
    joinNext(step, task);
    return;
  }
  if (!lateEvidence(step, ending)) {
    blame(step, ending);
  }
  log(
    step,
    "warn",
    "container-replaced",
    `Another container is asked for, nothing had started yet: ${ending.summary}.`,
    {
      task: task.id,
      container: ending.containerId,
    },
  );
  moveTask(step, task, BEFORE_START, "waiting");
  renewTask(step, task, task.generation);
  if (ending.machine && task.machineFailures >= spec.failure.blame.job) {
    const summary = `${ending.summary}, the ${task.machineFailures}. container of ${task.id} that failed`;
    finish(step, { result: "failed", summary, cause: { ...causeOf(ending), summary } });
  }
}

function causeOf(ending: Ending) {
  return {
    class: ending.class,
    summary: ending.summary,
    task: ending.task,
    host: ending.host,
    containerId: ending.containerId,
    exit: ending.exit,
    atMs: ending.atMs,
    lines: ending.lines,
    consequences: [],
  };
}
