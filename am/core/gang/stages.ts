import { durationWords } from "../../../src/job/reasons/words.ts";
import { stopWithinMs } from "../../../src/job/silence.ts";
import { stagesOf } from "../../../src/job/stages.ts";
import { discard, handOver, isHeard, isWanting, nextWaiting } from "../containers/containers.ts";
import { isKeptOff } from "../containers/kept-off.ts";
import { carryingMs, mayCarry } from "../containers/transfers.ts";
import { waiting, whenDurable } from "../journal/barrier.ts";
import { awaitedBy } from "../policies/completion.ts";
import { hasRoom, leadOfGang, mayRunMore } from "../policies/trials.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitOf, deadlineIn, rejoinLeftMs } from "../state/deadlines.ts";
import type { GangState } from "../state/gang.ts";
import { moveGang } from "../state/gang-moves.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import {
  askedOf,
  containerOf,
  emit,
  findTask,
  gangOf,
  log,
  roleOf,
  type Step,
  tasksOf,
  tenantOf,
} from "../state/step.ts";
import { AFTER_END, moveTask } from "../state/task-moves.ts";
import { refund } from "./charges.ts";
import { intendStart, openGeneration, renewTask } from "./generation.ts";
import { stopChild } from "./restart.ts";
import { hasParameters, promoteTrial, promoteTrials } from "./trials.ts";

/** Why containers in which nothing will run again go back. */
export const DONE = "its task is done for good";
const STAGE_DONE = "its stage is done";

/** Begins the gangs that no longer wait for any other, once the journal knows that those before them are done. */
export function beginStages(step: Step): void {
  if (step.spec.trials !== undefined) {
    beginTrials(step);
    return;
  }
  if (step.state.gangs.some((gang) => !isDoneKnown(step, gang))) {
    return;
  }
  for (const [position, stage] of stagesOf(step.spec.roles).entries()) {
    const gang = step.state.gangs[position];
    if (gang?.phase === "ahead" && awaitedBy(step, gang).length === 0) {
      begin(step, gang, stage.after.length === 0 ? step.state.startedAtMs : step.nowMs);
    }
  }
}

/** In a search whose trials are gangs: paused trials among the best go on first, then others begin, as many as there is room for. */
export function beginTrials(step: Step): void {
  const { phase, outcome, gangs, startedAtMs } = step.state;
  if (step.spec.trials === undefined || phase !== "under-way" || outcome !== undefined) {
    return;
  }
  promoteTrials(step);
  while (hasRoom(step)) {
    const gang = gangs.find((one) => one.phase === "ahead");
    const lead = gang && leadOfGang(step, gang);
    if (gang === undefined || lead === undefined || !hasParameters(step, lead)) {
      return;
    }
    lead.trialOver = false;
    begin(step, gang, gangs.every(({ begunAtMs }) => begunAtMs === 0) ? startedAtMs : step.nowMs);
  }
}

function begin(step: Step, gang: GangState, begunAtMs: number): void {
  gang.begunAtMs = begunAtMs;
  moveGang(step, gang, "turn-comes");
  openGeneration(step, gang);
  const begun = ({ generation, phase }: TaskRecord) => generation > 0 || !AFTER_END.includes(phase);
  // A task that has ended without a life in this search belongs to a trial of an earlier one.
  for (const task of tasksOf(step, gang).filter(begun)) {
    // An earlier attempt may have begun the stage, and died before its journal said so: its executors prepare again.
    renewTask(step, task, gang.generation);
  }
  step.changed = true;
}

/**
 * A gang has what it ran for: none of its tracked tasks goes on. Its other tasks serve the stages after it, but end with a trial. A trial that
 * pauses or has failed ends in the same way.
 */
export function endStage(step: Step, gang: GangState): void {
  moveGang(step, gang, "tracked-tasks-done");
  const present = gang.generations.at(-1);
  if (present !== undefined) {
    present.endedAtMs = step.nowMs;
  }
  for (const task of tasksOf(step, gang)) {
    if (roleOf(step, task).tracking === "tracked" || step.spec.trials !== undefined) {
      stopChild(step, task, { code: "generation-ended", why: STAGE_DONE });
      moveTask(step, task, "stage-done");
    } else if (task.phase === "registered") {
      // The task waited for the restart of its gang, which nobody needs now.
      intendStart(step, task);
    }
  }
  const lead = leadOfGang(step, gang);
  if (lead !== undefined) {
    lead.trialOver = true;
    lead.endedAtMs ||= step.nowMs;
    // Open verdicts decide nothing any more.
    for (const { charged } of gang.verdicts.splice(0)) {
      if (charged !== undefined) {
        refund(gang, charged);
      }
    }
  }
  gang.stopDeadline = deadlineIn(step, rejoinLeftMs(step) + stopWithinMs(step.spec.timeouts));
  const { generation, position } = gang;
  whenDurable(step, { what: "stage-done", gang: position });
  log(step, "info", "stage-done", `The stage of generation ${generation} is done.`, { generation });
}

/**
 * Containers in which nothing of a finished stage will run again serve a stage that gathers, or go back, once the journal knows that the stage
 * is done. Until then only their executors could tell a later attempt how it ended.
 */
export function succeedStages(step: Step): void {
  if (step.state.gangs.every(({ phase }) => phase !== "done")) {
    return;
  }
  for (const container of Object.values(step.state.containers)) {
    const tenant = tenantOf(step, container);
    if (tenant !== undefined && AFTER_END.includes(tenant.phase) && isOver(step, tenant)) {
      succeed(step, container, tenant);
    }
  }
}

/**
 * A task has succeeded, or is a trial that failed or was stopped, and nothing would start it again: others that start when they can may be
 * waiting for its container.
 */
export function doneForGood(step: Step, { id, role }: TaskRecord): void {
  if (step.spec.distributedMode === "fcfs" && roleOf(step, { role }).inMaster === undefined) {
    whenDurable(step, { what: "task-done", task: id });
  }
}

/** The same, once the journal knows. */
export function succeedTask(step: Step, id: string): void {
  const tenant = findTask(step, id);
  const container = tenant && containerOf(step, tenant);
  const isDone = ({ phase }: TaskRecord) =>
    step.spec.search === undefined ? phase === "succeeded" : AFTER_END.includes(phase);
  if (tenant === undefined || !isDone(tenant) || container?.phase !== "held" || step.state.phase !== "under-way") {
    return;
  }
  promoteTrial(step);
  if (isDone(tenant)) {
    succeed(step, container, tenant);
  }
}

/** Whether the task has ended for good with its stage. A task that lives on its own and has failed may start again in its container. */
function isOver(step: Step, { id, role }: TaskRecord): boolean {
  const gang = gangOf(step, { role });
  return gang.phase === "done" && isDoneKnown(step, gang) && gang.verdicts.every(({ scope }) => scope !== id);
}

function isDoneKnown(step: Step, { position }: GangState): boolean {
  return waiting(step, { what: "stage-done", gang: position }) === undefined;
}

/** Kept containers serve the trials that wait by now, and go back where they cannot. */
export function serveFromKept(step: Step): void {
  if (step.spec.search?.keepIdleMs === undefined || step.state.phase !== "under-way") {
    return;
  }
  for (const container of Object.values(step.state.containers)) {
    const tenant = container.deadlines.idle && tenantOf(step, container);
    if (tenant !== undefined) {
      succeed(step, container, tenant);
    }
  }
}

function succeed(step: Step, container: ContainerRecord, tenant: TaskRecord): void {
  const isFit = isFitToServe(step, container);
  const heir = isFit ? heirOf(step, tenant) : undefined;
  const isKept = container.deadlines.idle !== undefined;
  if (heir !== undefined && !(isKept && heir.trialAvoids === container.host)) {
    handOver(step, container, heir);
  } else if (isFit && heir === undefined && mayBeKept(step)) {
    keep(step, container);
  } else if (!mayCarry(step, container)) {
    discard(step, container, DONE);
  } else if (container.deadlines.leave === undefined) {
    tellToLeave(step, container, tenant);
    awaitOf(step, container, "leave", step.spec.timeouts.stopGraceMs + Bounds.stopMarginMs + carryingMs(step));
  }
}

/** Whether a container that no trial waits for is kept, because others may begin or go on later. */
function mayBeKept({ spec, state }: Step): boolean {
  return spec.search?.keepIdleMs !== undefined && state.outcome === undefined && mayRunMore({ state });
}

function keep(step: Step, container: ContainerRecord): void {
  const { keepIdleMs = 0 } = step.spec.search ?? {};
  if (container.deadlines.idle === undefined) {
    awaitOf(step, container, "idle", keepIdleMs);
    const words = `${container.id} is kept for ${durationWords(keepIdleMs)} at most, for a trial that may begin or go on.`;
    log(step, "info", "container-kept", words, { container: container.id });
    step.changed = true;
  }
}

/** A container whose executor may still upload what its task left is not disturbed. */
function isFitToServe(step: Step, container: ContainerRecord): boolean {
  return step.spec.carrier === undefined && isHeard(container) && !isKeptOff(step, container.host);
}

/** A task that waits for a container like this tenant's. */
function heirOf(step: Step, tenant: TaskRecord): TaskRecord | undefined {
  const given = allocationOf(step, tenant);
  const alike = step.state.roles.flatMap(({ counts }, role) =>
    counts.waiting > 0 && isWanting(step, role) && allocationOf(step, { role }) === given ? [role] : [],
  );
  return nextWaiting(step, alike, tenant.host);
}

/** What identifies like containers: what YARN was asked for and which files were localised, since a container keeps its files for good. */
function allocationOf(step: Step, task: { readonly role: number }): string {
  const { resource, nodeLabel, constrained, image, files, inMaster } = askedOf(step, task);
  const others = Object.entries(resource.others).sort(([a], [b]) => (a < b ? -1 : 1));
  const { memoryMiB, vcores } = resource;
  return JSON.stringify([
    inMaster ?? false,
    memoryMiB,
    vcores,
    others,
    nodeLabel ?? "",
    constrained ?? {},
    image ?? {},
    files,
  ]);
}

/** An executor that is not connected is told when it is back. */
export function tellToLeave(step: Step, container: ContainerRecord, tenant: TaskRecord): void {
  const { stopGraceMs } = step.spec.timeouts;
  if (container.link !== "up") {
    return;
  }
  emit(step, {
    type: "send",
    to: { task: tenant.id, containerId: container.id },
    message: { type: "exit", graceMs: stopGraceMs, reason: { code: "generation-ended", why: DONE } },
  });
}
