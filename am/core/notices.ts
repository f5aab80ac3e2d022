import type { Event, NodeView, ResourceAmount } from "./events.ts";
import { emit, findTask, log, type Step, tenantOf } from "./step.ts";

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
    if (task?.phase !== "running") {
      continue;
    }
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
  const { checkpoint } = step.state;
  if (event.checkpoint !== undefined && event.checkpoint.path !== checkpoint?.path) {
    if (checkpoint === undefined || event.checkpoint.step >= checkpoint.step) {
      step.state.checkpoint = { ...event.checkpoint, atMs: event.atMs };
      step.state.journal.dirty = true;
    }
  }
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
