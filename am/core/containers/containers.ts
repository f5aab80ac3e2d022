import { typesBeyond } from "../../../src/job/amounts.ts";
import { gpusOf } from "../../../src/job/gpus.ts";
import { countWords } from "../../../src/job/reasons/words.ts";
import { nameInTrial } from "../../../src/job/search/trial-tasks.ts";
import type { Resource } from "../../../src/job/spec.ts";
import { isDue, trialsToBegin } from "../policies/trials.ts";
import { type ContainerMove, LINK, type LinkMove, moveContainer } from "../state/container-moves.ts";
import { awaitOf } from "../state/deadlines.ts";
import type { AllocatedContainer } from "../state/events.ts";
import { gatheringGeneration } from "../state/gang-moves.ts";
import { nextPhase } from "../state/machine.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { begunGangs, emit, findTask, gangOf, log, noteDurable, roleOf, type Step } from "../state/step.ts";
import { AFTER_END, moveTask, type TaskMove } from "../state/task-moves.ts";
import { dropCheckpoint } from "./checkpoints.ts";
import { isKeptOff } from "./kept-off.ts";
import { unmeetable } from "./unmeetable.ts";

/** One distinct priority per role: the priority alone shows which ask a container answers, however its size was rounded. */
export function priorityOf(role: number): number {
  return role + 1;
}

/**
 * Gives newly allocated containers to tasks of the role whose priority they answer. Schedulers allocate more containers than were asked for, and
 * larger ones: those that no task waits for go back; those already known change nothing.
 */
export function containersAllocated(step: Step, containers: readonly AllocatedContainer[]): void {
  const surplus: string[] = [];
  const launches: { containerId: string; task: string; generation: number }[] = [];
  for (const given of containers) {
    if (isKnown(step, given.containerId)) {
      continue;
    }
    const position = given.priority - 1;
    const ask = step.state.asks[position];
    if (ask !== undefined && ask.outstanding > 0) {
      ask.outstanding--;
      ask.refusal = undefined;
      noteGivenSize(step, position, given.resource);
    }
    if (step.state.ended[given.containerId] !== undefined) {
      step.state.ended[given.containerId] = "known";
      continue;
    }
    const roles = trialsToBegin(step, position) > 0 ? wantingRoles(step, position) : [];
    const task = nextWaiting(step, roles, given.host);
    const container = addContainer(step, given, position);
    if (task === undefined || isKeptOff(step, given.host)) {
      surplus.push(container.id);
      moveContainer(step, container, "not-needed");
      container.discardReason = "not needed";
      continue;
    }
    bind(step, container, task, "container-given");
    launches.push({ containerId: container.id, task: task.id, generation: task.generation });
  }
  if (surplus.length > 0) {
    log(
      step,
      "info",
      "surplus-released",
      `Given back, because no task needs them: ${countWords(surplus.length, "container")}.`,
    );
    emit(step, { type: "release", containerIds: surplus, reason: "no task needs it" });
  }
  if (launches.length > 0) {
    emit(step, { type: "launch", launches });
  }
}

/** YARN rounds asks up without saying how: the first container of a role shows the size of all of them. */
function noteGivenSize(step: Step, position: number, { memoryMiB, vcores, others }: Resource): void {
  const role = step.state.roles[position];
  const asked = roleOf(step, { role: position }).resource;
  if (role === undefined || typesBeyond({ memoryMiB, vcores, others }, asked).length === 0) {
    return;
  }
  const types = Object.entries(asked.others).map(([type, amount]) => [type, Math.max(amount, others[type] ?? 0)]);
  role.given = {
    memoryMiB: Math.max(asked.memoryMiB, memoryMiB),
    vcores: Math.max(asked.vcores, vcores),
    others: Object.fromEntries(types),
  };
  step.roomChanged = true;
  noteDurable(step);
}

/** Adds a container to the state, bound to no task. */
export function addContainer(step: Step, given: AllocatedContainer, role: number): ContainerRecord {
  const container: ContainerRecord = {
    id: given.containerId,
    nodeId: given.nodeId,
    host: given.host,
    nodeHttpAddress: given.nodeHttpAddress,
    role,
    resource: given.resource,
    allocatedAtMs: step.nowMs,
    phase: "unclaimed",
    link: "none",
    task: "",
    generation: 0,
    deadlines: {},
    rejoinAddress: "",
    brokenAtMs: 0,
    machineFailures: 0,
    silent: false,
    lastHeardMs: 0,
    unresolved: false,
    discardReason: "",
  };
  step.state.containers[container.id] = container;
  countUsage(step, container, 1);
  return container;
}

/** A kept container has named its task, or no longer will. */
export function noLongerUnclaimed({ state: { unclaimed } }: Step, { role }: ContainerRecord): void {
  unclaimed[role] = Math.max(0, (unclaimed[role] ?? 0) - 1);
}

/** A kept container that no task will claim goes back. */
export function giveBackUnclaimed(step: Step, container: ContainerRecord, reason: string): void {
  noLongerUnclaimed(step, container);
  discard(step, container, reason);
}

/** Whether its executor can receive orders and would report what happens in the container. */
export function isHeard({ link, silent }: ContainerRecord): boolean {
  return link === "up" && !silent;
}

function isUnheard({ link, silent }: ContainerRecord): boolean {
  return link === "broken" || (link === "up" && silent);
}

/** The only way to change the state of a link. A link that registers or is looked for starts without its past silence. */
export function moveLink(step: Step, container: ContainerRecord, on: LinkMove): void {
  const link = nextPhase(step, LINK, { id: container.id, phase: container.link }, on);
  if (link === undefined) {
    return;
  }
  const isNew = link !== "broken" && link !== "closed";
  const heard = isNew ? { silent: false, lastHeardMs: 0 } : {};
  changeLink(step, container, { link, brokenAtMs: isNew ? 0 : step.nowMs, ...heard });
}

/** @param silentMs how long nothing was heard of its executor; undefined: it is heard again */
export function noteSilence(step: Step, container: ContainerRecord, silentMs: number | undefined): void {
  const silent = silentMs !== undefined;
  changeLink(step, container, { silent, lastHeardMs: silent ? step.nowMs - silentMs : 0 });
}

/** Keeps count of the executors that are heard and of those that are not. */
function changeLink({ state }: Step, container: ContainerRecord, change: Partial<ContainerRecord>): void {
  const count = (sign: 1 | -1): void => {
    state.heard += sign * Number(isHeard(container));
    state.unheard += sign * Number(isUnheard(container));
  };
  count(-1);
  Object.assign(container, change);
  count(1);
}

/** YARN reports that a container has ended: it leaves the state. */
export function removeContainer(step: Step, container: ContainerRecord): void {
  moveLink(step, container, "completed");
  countUsage(step, container, -1);
  delete step.state.containers[container.id];
  step.state.ended[container.id] = "known";
}

/**
 * Gives a container up: from now on the only message about it that counts is YARN's that it has ended. A container that runs nothing goes back
 * by `release`; one whose executor may run is also stopped at its node, which is quicker.
 */
export function discard(step: Step, container: ContainerRecord, reason: string): void {
  if (container.phase === "discarded") {
    return;
  }
  vacate(step, container, "given-up", reason);
  emit(step, { type: "stop-container", containerId: container.id, reason });
  emit(step, { type: "release", containerIds: [container.id], reason });
}

/**
 * An executor is gone, and its task with it; only YARN can say what became of the container. Releasing it now would make the ResourceManager
 * forget it before the node has reported the exit status (AbstractYarnScheduler#completedContainer drops containers that it no longer knows), so
 * it goes back only if YARN stays silent.
 * With `stop` the node ends whatever may still run.
 */
export function beginTermination(step: Step, container: ContainerRecord, reason: string, stop: boolean): void {
  vacate(step, container, "executor-gone", reason);
  awaitOf(step, container, "release", step.spec.timeouts.verdictMs);
  if (stop) {
    emit(step, { type: "stop-container", containerId: container.id, reason });
  }
}

/** No task lives in it any more, and nothing is awaited from its executor. */
function vacate(
  step: Step,
  container: ContainerRecord,
  on: Extract<ContainerMove, "given-up" | "executor-gone">,
  reason: string,
): void {
  detach(step, container);
  dropCheckpoint(step, container, on === "given-up" ? "its container is given up" : "its container is gone");
  moveContainer(step, container, on);
  container.discardReason = reason;
  moveLink(step, container, "given-up");
  container.deadlines = {};
  step.changed = true;
}

/** No task lives in it any more. A task whose program ended in it remembers the container, because its log is there. */
function detach(step: Step, { id, nodeHttpAddress, task }: ContainerRecord): void {
  const tenant = findTask(step, task);
  if (tenant?.containerId === id) {
    tenant.containerId = "";
    if (AFTER_END.includes(tenant.phase)) {
      tenant.lastContainer = { id, nodeHttpAddress };
    }
  }
}

/** Gives a container whose task has ended for good to a task of another role that waits for one like it. */
export function handOver(step: Step, container: ContainerRecord, task: TaskRecord): void {
  detach(step, container);
  dropCheckpoint(step, container, "its container is another task's now");
  container.handedOver = true;
  container.rejoinAddress = "";
  container.deadlines = {};
  moveLink(step, container, "handed-over");
  bind(step, container, task, "container-handed-over");
  relaunch(step, container, task);
}

/** Orders the executor in the container, perhaps again, to make room for the next one. */
export function relaunch(step: Step, { id }: ContainerRecord, task: TaskRecord): void {
  emit(step, { type: "relaunch", launches: [{ containerId: id, task: task.id, generation: task.generation }] });
}

/**
 * The roles that wait for containers of one of the job's roles: the role itself or, where trials are gangs, that role of every trial, in the
 * order of the trials' numbers.
 */
export function wantingRoles(step: Step, position: number): number[] {
  const { spec, state } = step;
  const all = spec.trials === undefined ? [position] : begunGangs(step).flatMap(({ roles }) => roles[position] ?? []);
  return all.filter((role) => (state.roles[role]?.counts.waiting ?? 0) > 0 && isWanting(step, role));
}

/** Whether a role's gang wants containers at present. */
export function isWanting(step: Step, position: number): boolean {
  const { phase, hold } = gangOf(step, { role: position });
  return phase !== "ahead" && phase !== "over" && (hold.askAgainAtMs === 0 || (hold.isVain && isLarge(step, position)));
}

/**
 * Whether YARN would refuse its containers one by one: only YARN can say whether it ever allocates one so large, and it keeps none allocated
 * meanwhile.
 */
function isLarge(step: Step, position: number): boolean {
  return unmeetable(step, position)?.ofGang === false;
}

/** Binds the container to the task, for its present generation. */
export function holdFor(step: Step, container: ContainerRecord, task: TaskRecord): void {
  moveContainer(step, container, "bound");
  container.role = task.role;
  container.task = task.id;
  container.generation = task.generation;
  task.containerId = container.id;
  task.host = container.host;
}

function bind(
  step: Step,
  container: ContainerRecord,
  task: TaskRecord,
  how: Extract<TaskMove, "container-given" | "container-handed-over">,
): void {
  holdFor(step, container, task);
  task.port = 0;
  moveTask(step, task, how);
  const gang = gangOf(step, task);
  gang.hold.deadline = undefined;
  const present = gatheringGeneration(gang);
  if (present !== undefined) {
    present.allocatedAtMs = step.nowMs;
  }
  awaitOf(step, container, "launch", step.spec.timeouts.launchMs);
  log(step, "info", "container-allocated", `${task.id} gets ${container.id} on ${container.host}.`, {
    ...(step.spec.search && { trial: nameInTrial(step.spec, task.id) }),
    task: task.id,
    container: container.id,
    generation: task.generation,
  });
}

/** The first task of these roles that wants a container on this host; a task that avoids the host only where no other waits. */
export function nextWaiting(step: Step, roles: readonly number[], host: string): TaskRecord | undefined {
  let first: TaskRecord | undefined;
  for (const position of roles) {
    const task = nextOfRole(step, position, host);
    if (task !== undefined && task.trialAvoids !== host) {
      return task;
    }
    first ??= task;
  }
  return first;
}

/** The same for one role. The `firstWaiting` hint makes a whole gang's allocation linear. */
function nextOfRole(step: Step, position: number, host: string): TaskRecord | undefined {
  const role = step.state.roles[position];
  if (role === undefined || role.counts.waiting === 0) {
    return undefined;
  }
  let first: TaskRecord | undefined;
  for (let index = role.firstWaiting; ; index++) {
    const task = findTask(step, `${role.name}:${role.first + index}`);
    if (task?.role !== position) {
      return first;
    }
    if (task.phase !== "waiting" || !isDue(step, task)) {
      continue;
    }
    if (first === undefined) {
      role.firstWaiting = index;
      first = task;
    }
    if (task.trialAvoids !== host) {
      return task;
    }
  }
}

function isKnown(step: Step, containerId: string): boolean {
  return step.state.containers[containerId] !== undefined || step.state.ended[containerId] === "known";
}

/** Integrates the resources held over time. */
export function countUsage(step: Step, container: ContainerRecord, sign: 1 | -1): void {
  const { usage } = step.state;
  const elapsedMs = step.nowMs - usage.countedAtMs;
  usage.memoryMiBMs += usage.memoryMiB * elapsedMs;
  usage.vcoreMs += usage.vcores * elapsedMs;
  usage.gpuMs += usage.gpus * elapsedMs;
  usage.countedAtMs = step.nowMs;
  usage.memoryMiB += sign * container.resource.memoryMiB;
  usage.vcores += sign * container.resource.vcores;
  usage.gpus += sign * gpusOf(container.resource.others, step.spec.gpuTypes);
}
