import type { Resource } from "../../../src/job/spec.ts";
import type { Event, NodeView } from "../state/events.ts";
import { emit, log, type Step, tenantOf } from "../state/step.ts";
import { reconsiderRefusals } from "./refusals.ts";

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

/** Changes only: nodes that are not named stay as they were. */
export function nodesChanged(step: Step, nodes: readonly NodeView[]): void {
  for (const node of nodes) {
    step.state.nodes[node.nodeId] = node;
  }
  reconsiderRefusals(step, nodes);
}

export function headroomChanged(step: Step, available: Resource): void {
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
