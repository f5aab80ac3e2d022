import type { Notice } from "../../../src/job/execution.ts";
import type { Resource } from "../../../src/job/spec.ts";
import { Bounds } from "../state/bounds.ts";
import type { Event, NodeView } from "../state/events.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { emit, log, noteDurable, type Step, tenantOf } from "../state/step.ts";
import { reconsiderRefusals } from "./refusals.ts";

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

/** Carries changes only: nodes that are not named stay as they were. */
export function nodesChanged(step: Step, nodes: readonly NodeView[]): void {
  for (const node of nodes) {
    step.state.nodes[node.nodeId] = node;
  }
  reconsiderRefusals(step, nodes);
  step.roomChanged = true;
}

export function headroomChanged(step: Step, available: Resource): void {
  step.state.headroom = available;
  step.changed = true;
}

/** YARN may want containers back: their programs are told and can save their state. */
export function preemptionNotice(step: Step, event: Of<"preemption-notice">): void {
  for (const containerId of event.containerIds) {
    const container = step.state.containers[containerId];
    const task = container === undefined ? undefined : tenantOf(step, container);
    if (container === undefined || task?.phase !== "running") {
      continue;
    }
    log(step, "warn", "preemption-notice", `YARN wants the container of ${task.id} back.`, { task: task.id });
    giveNotice(step, container, task, { cause: "preemption", atMs: step.nowMs });
  }
}

const REASONS: Readonly<Record<Notice["cause"], string>> = {
  preemption: "YARN wants the container back",
  decommissioning: "the node is being taken out of the cluster",
};

/** Tells a program, by the job's signal and a file, that its container will be taken back. */
export function giveNotice(step: Step, container: ContainerRecord, task: TaskRecord, notice: Notice): void {
  container.notice = notice;
  noteDurable(step);
  step.changed = true;
  sendNotice(step, container, task, notice);
}

/** Sends the notice, perhaps again: the program sees it once. */
export function sendNotice(step: Step, container: ContainerRecord, task: TaskRecord, notice: Notice): void {
  const { signal } = step.spec.preemption;
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: container.id },
    message: { type: "signal-child", generation: task.generation, signal, reason: REASONS[notice.cause], notice },
  });
}

const WEB = /^https?:\/\//;

/** People open the address, so only the task's own container may announce it, and only the address of a web page. */
export function serviceAnnounced(step: Step, event: Of<"service-announced">): void {
  const container = step.state.containers[event.containerId];
  const isOwn = container !== undefined && tenantOf(step, container)?.id === event.task;
  if (!isOwn || !WEB.test(event.url) || !URL.canParse(event.url)) {
    return;
  }
  const { services } = step.state;
  const known = services.find(({ name, task }) => name === event.name && task === event.task);
  if (known === undefined) {
    if (services.filter(({ task }) => task === event.task).length >= Bounds.servicesOfTask) {
      return;
    }
    services.push({ name: event.name, url: event.url, task: event.task });
  } else {
    known.url = event.url;
  }
  step.changed = true;
}
