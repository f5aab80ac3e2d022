import { durationWords } from "../../../src/job/reasons/words.ts";
import { mayMove } from "../../../src/moves.ts";
import { giveBackUnclaimed, holdFor, moveLink, noLongerUnclaimed } from "../containers/containers.ts";
import { accountFor, programSuspended } from "../failures/verdict.ts";
import { dropTask } from "../gang/completeness.ts";
import { adoptStart, intendStart, prepare, resendStart } from "../gang/generation.ts";
import { joinNext, renewAlone, resendStop, restartUncharged } from "../gang/restart.ts";
import { doneForGood, tellToLeave } from "../gang/stages.ts";
import { isNeededNoMore } from "../policies/completion.ts";
import { isElastic, isShareDone, startsWithGang, takesGangAlong } from "../policies/restart.ts";
import { haltOf, isDue } from "../policies/trials.ts";
import { awaitNoMore, awaitOf } from "../state/deadlines.ts";
import type { ExecutorCommand } from "../state/effects.ts";
import type { ExecutorRegistration } from "../state/events.ts";
import { gatheringGeneration } from "../state/gang-moves.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import {
  about,
  containerOf,
  emit,
  findTask,
  gangOf,
  inJob,
  log,
  noteDurable,
  record,
  type Step,
  tenantOf,
} from "../state/step.ts";
import { ALIVE, BEFORE_START, moveTask, TASK } from "../state/task-moves.ts";
import { departUnstarted, startsAgain, tellOfDeparture } from "./departures.ts";
import { acknowledge, childExited, started } from "./programs.ts";
import { childProgress, renewProgress } from "./progress.ts";

/**
 * An executor identifies itself: when it starts, when it is ready for another generation, and whenever its stream was opened again. Its report
 * is compared with what its task should be doing, and whatever it missed is sent again: a lost message is no special case.
 */
export function executorRegistered(step: Step, registration: ExecutorRegistration): void {
  const container = step.state.containers[registration.containerId];
  const isFirstWord = container?.phase === "unclaimed" || container?.link === "rejoining";
  if (container?.phase === "unclaimed") {
    claim(step, container, registration.task);
  }
  const task = container === undefined ? undefined : tenantOf(step, container);
  if (container === undefined || task === undefined || task.id !== registration.task) {
    const why = "its container is no longer part of the job";
    if (container?.phase === "unclaimed") {
      // Its executor leaves: a registration of it that arrives late must not claim the container for a task again.
      giveBackUnclaimed(step, container, why);
    }
    dismiss(step, registration, { graceMs: 0, reason: { code: "replaced", why } });
    return;
  }
  if (!isFirstWord && !isOurs(task, registration)) {
    ignoreMadeUp(step, task, container);
    return;
  }
  moveLink(step, container, "registered");
  if (container.rejoinAddress !== registration.rejoinAddress) {
    container.rejoinAddress = registration.rejoinAddress;
    noteDurable(step);
  }
  awaitNoMore(container, "launch", "registration", "heartbeat", "reconnect", "rejoin");
  if (container.deadlines.leave !== undefined) {
    tellToLeave(step, container, task);
  }
  if (step.state.phase === "finishing") {
    finishingRegistration(step, task, registration);
  } else if (registration.generation < task.generation) {
    behind(step, task, registration);
  } else if (registration.generation === task.generation) {
    upToDate(step, task, container, registration);
  } else {
    ahead(step, task, registration);
  }
}

/**
 * Whether this attempt ordered what an executor reports. Orders of an earlier attempt show in an executor's first registration with this one;
 * an executor that reports such a thing later made it up, and must not restart anything with it.
 */
function isOurs(task: TaskRecord, { generation, child }: ExecutorRegistration): boolean {
  if (generation !== task.generation) {
    return generation < task.generation;
  }
  return child.state === "none" || !BEFORE_START.includes(task.phase);
}

/** The registration is ignored: the container is given up and charged as one whose executor does not come. */
function ignoreMadeUp(step: Step, task: TaskRecord, { link }: ContainerRecord): void {
  if (link !== "up") {
    const words = `${task.id}'s executor says that it was ordered what nobody has ordered; it is not heard.`;
    log(step, "warn", "registration-made-up", words, about(task));
  }
}

/**
 * The executor of a kept container that the journal did not know names its task. In a search it may not name a trial that the journal did not
 * know either.
 */
function claim(step: Step, container: ContainerRecord, taskId: string): void {
  const task = findTask(step, taskId);
  if (task === undefined || inJob(step, task.role) !== container.role || !isDue(step, task)) {
    return;
  }
  if (!mayMove(TASK, task.phase, "claimed")) {
    return;
  }
  moveTask(step, task, "claimed");
  noLongerUnclaimed(step, container);
  holdFor(step, container, task);
}

/**
 * The executor knows a generation that the journal does not: the previous attempt died during a restart. The higher generation wins. Nobody can
 * say how far that restart had got, so another one begins, unless the gang already has what it ran for.
 */
function ahead(step: Step, task: TaskRecord, registration: ExecutorRegistration): void {
  const { state } = step;
  const gang = gangOf(step, task);
  state.lastGeneration = Math.max(state.lastGeneration, registration.generation);
  if (registration.child.state === "exited") {
    acknowledge(step, registration);
  }
  moveTask(step, task, "executor-ahead");
  accountFor(step, registration.containerId);
  if (isNeededNoMore(step, task)) {
    return;
  }
  if (!takesGangAlong(step, task)) {
    renewAlone(step, task.id, "the attempt before had begun to");
  } else if (registration.generation === gang.generation) {
    joinNext(step, task);
  } else {
    restartUncharged(step, gang, "the attempt before had begun to restart the gang");
  }
}

/** The executor is still in an earlier generation than its task. */
function behind(step: Step, task: TaskRecord, registration: ExecutorRegistration): void {
  if (registration.child.state === "exited") {
    acknowledge(step, registration);
  }
  if (mayMove(TASK, task.phase, "executor-behind")) {
    moveTask(step, task, "executor-behind");
    prepare(step, task);
  }
}

function upToDate(step: Step, task: TaskRecord, container: ContainerRecord, registration: ExecutorRegistration): void {
  const { child, progress } = registration;
  if (child.state !== "none" && BEFORE_START.includes(task.phase) && !adoptStart(step, task)) {
    startedByAnother(step, task, registration);
    return;
  }
  const suspendedMs = child.state === "none" ? 0 : (child.suspendedMs ?? 0);
  if (suspendedMs > 0 && ALIVE.includes(task.phase)) {
    programSuspended(step, task, container, suspendedMs);
  }
  if (progress !== undefined) {
    const { task: id, containerId, generation } = registration;
    childProgress(step, { ...progress, type: "child-progress", task: id, containerId, generation });
  }
  if (child.state === "exited") {
    childExited(step, { type: "child-exited", ...registration, exit: child.exit });
  } else if (child.state === "running") {
    if (task.phase === "stopping") {
      resendStop(step, task, { code: "generation-ended", why: "it is to stop" });
    } else {
      started(step, task, child.startedAtMs);
      renewProgress(step, container);
      tellOfDeparture(step, container, task);
      resume(step, task, suspendedMs);
    }
  } else if (task.phase === "stopping") {
    moveTask(step, task, "nothing-runs");
    accountFor(step, container.id);
    joinNext(step, task);
    if (haltOf(task) !== undefined) {
      doneForGood(step, task);
    }
  } else if (task.phase === "starting") {
    startMissed(step, task, container);
  } else {
    ready(step, task, container, registration);
  }
}

/** The cluster spec did not reach it. A program that has not started on a node that is leaving by now starts elsewhere. */
function startMissed(step: Step, task: TaskRecord, container: ContainerRecord): void {
  if (isElastic(step, task) && isShareDone(step, task)) {
    dropTask(step, task);
  } else if (!startsAgain(step, task) || !departUnstarted(step, container, task)) {
    resendStart(step, task);
  }
}

/**
 * A program of a gang that this attempt has not started: an attempt that did not know it had been replaced started it. Nobody can say with
 * which cluster spec, so another generation begins.
 */
function startedByAnother(step: Step, task: TaskRecord, registration: ExecutorRegistration): void {
  if (registration.child.state === "exited") {
    acknowledge(step, registration);
  }
  moveTask(step, task, "started-by-another");
  restartUncharged(step, gangOf(step, task), "an attempt that was replaced had begun to start the gang");
}

/** Nothing runs and a port is held: the task waits for its cluster spec. */
function ready(step: Step, task: TaskRecord, container: ContainerRecord, registration: ExecutorRegistration): void {
  if (!mayMove(TASK, task.phase, "executor-ready")) {
    return;
  }
  moveTask(step, task, "executor-ready");
  awaitNoMore(container, "prepare");
  if (departUnstarted(step, container, task)) {
    return;
  }
  container.generation = task.generation;
  noteBegun(step, task, registration);
  task.host = registration.host;
  task.port = registration.port;
  if (registration.ports !== undefined) {
    task.ports = registration.ports;
  }
  if (!startsWithGang(step, task)) {
    intendStart(step, task);
  }
  log(step, "info", "task-registered", `${task.id} is ready at ${task.host}:${task.port}.`, about(task));
}

/** When an executor that was started for the present generation had begun: its files were there. */
function noteBegun(step: Step, task: TaskRecord, { upMs = step.nowMs }: ExecutorRegistration): void {
  const present = gatheringGeneration(gangOf(step, task));
  const begunAtMs = step.nowMs - upMs;
  if (present !== undefined && begunAtMs > Math.max(present.startedAtMs, present.localizedAtMs ?? 0)) {
    present.localizedAtMs = begunAtMs;
  }
}

function finishingRegistration(step: Step, task: TaskRecord, registration: ExecutorRegistration): void {
  if (registration.child.state === "exited" && registration.generation === task.generation) {
    childExited(step, { type: "child-exited", ...registration, exit: registration.child.exit });
  }
  if (registration.child.state === "none" && task.phase === "stopping") {
    moveTask(step, task, "nothing-runs");
  }
  dismiss(step, registration, { graceMs: step.spec.timeouts.stopGraceMs, reason: { code: "job-ended" } });
}

/**
 * Its executor reached neither the AM nor the staging folder and suspended the program: what the program did not do meanwhile is nobody's
 * fault.
 */
function resume(step: Step, task: TaskRecord, suspendedMs: number): void {
  const container = containerOf(step, task);
  if (suspendedMs === 0 || container === undefined) {
    return;
  }
  emit(step, {
    type: "send",
    to: { task: task.id, containerId: container.id },
    message: { type: "resume-child", generation: task.generation },
  });
  const { execution } = container.deadlines;
  if (execution !== undefined) {
    awaitOf(step, container, "execution", execution.dueMs + suspendedMs - step.nowMs);
  }
  const words = `${task.id} goes on: it was suspended for ${durationWords(suspendedMs)}, while its node was cut off.`;
  log(step, "warn", "task-resumed", words, about(task));
  record(step, { type: "task-resumed", suspendedMs }, task);
}

type ExitCommand = Extract<ExecutorCommand, { type: "exit" }>;

function dismiss(step: Step, registration: ExecutorRegistration, order: Omit<ExitCommand, "type">): void {
  emit(step, {
    type: "send",
    to: { task: registration.task, containerId: registration.containerId },
    message: { type: "exit", ...order },
  });
}
