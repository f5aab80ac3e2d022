import type { Checkpoint } from "../../src/job/status.ts";
import type { Event, NodeView, ResourceAmount } from "./events.ts";
import type { TaskRecord } from "./state.ts";
import { emit, findTask, log, record, type Step, tenantOf } from "./step.ts";

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

/** Changes only: nodes that are not named stay as they were. */
export function nodesChanged(step: Step, nodes: readonly NodeView[]): void {
  for (const node of nodes) {
    step.state.nodes[node.nodeId] = node;
  }
}

export function headroomChanged(step: Step, available: ResourceAmount): void {
  step.state.headroom = available;
  step.changed = true;
}

/** YARN wants containers back, perhaps: their programs are told, and may save what they have. */
export function preemptionNotice(step: Step, event: Of<"preemption-notice">): void {
  for (const containerId of event.containerIds) {
    const container = step.state.containers[containerId];
    const task = container === undefined ? undefined : tenantOf(step, container);
    if (container === undefined || task?.phase !== "running") {
      continue;
    }
    container.wantedBackAtMs = step.nowMs;
    log(step, "warn", "preemption-notice", `YARN wants the container of ${task.id} back.`, { task: task.id });
    emit(step, {
      type: "send",
      to: { task: task.id, containerId },
      message: {
        type: "signal-child",
        generation: task.generation,
        signal: step.spec.preemption.signal,
        reason: "YARN wants the container back",
      },
    });
  }
}

export function childProgress(step: Step, event: Of<"child-progress">): void {
  const task = findTask(step, event.task);
  if (task?.containerId !== event.containerId || task.generation !== event.generation) {
    return;
  }
  task.step = event.step;
  step.changed = true;
  if (event.checkpoint !== undefined) {
    checkpointSaved(step, task, { ...event.checkpoint, atMs: event.atMs });
  }
}

/** The furthest complete checkpoint is what a later generation goes on from. A task's report names its last one again with every step. */
function checkpointSaved(step: Step, task: TaskRecord, saved: Checkpoint): void {
  const { state } = step;
  const known = state.checkpoint;
  task.checkpointStep = saved.step;
  if (known !== undefined && (saved.step < known.step || (saved.step === known.step && saved.path === known.path))) {
    return;
  }
  state.checkpoint = saved;
  state.journal.dirty = true;
  record(step, "checkpoint", task, { path: saved.path, step: saved.step });
}

export function serviceAnnounced(step: Step, event: Of<"service-announced">): void {
  const { services } = step.state;
  const known = services.find(({ name, task }) => name === event.name && task === event.task);
  if (known === undefined) {
    services.push({ name: event.name, url: event.url, task: event.task });
  } else {
    known.url = event.url;
  }
  step.changed = true;
}
