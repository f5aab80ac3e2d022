import { failedBy } from "../../../src/job/outcome.ts";
import { endingWords } from "../../../src/job/reasons/endings.ts";
import { outcomeWords, type RuleReason } from "../../../src/job/reasons/outcomes.ts";
import { mayMove } from "../../../src/moves.ts";
import { dropCheckpoint } from "../containers/checkpoints.ts";
import { beginTermination, discard, noLongerUnclaimed, removeContainer } from "../containers/containers.ts";
import { renewAfterLostStart, renewTask } from "../gang/generation.ts";
import { joinNext } from "../gang/restart.ts";
import { finish } from "../job/finish.ts";
import { isNeededNoMore, isSidecar } from "../policies/completion.ts";
import { takesGangAlong } from "../policies/restart.ts";
import { moveContainer } from "../state/container-moves.ts";
import type { Event } from "../state/events.ts";
import type { Ending } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import { isRestarting } from "../state/gang-moves.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { containerOf, findTask, gangOf, log, noteDurable, type Step, tasksOf, tenantOf } from "../state/step.ts";
import { ALIVE, BEFORE_START, moveTask, TASK } from "../state/task-moves.ts";
import { blame, charge, exhaustedRule, fileAtFault, isExhausted, pardonVanished, spentRule } from "./budgets.ts";
import { causeOf } from "./cause.ts";
import { containerEnding, isGivenUp } from "./container-endings.ts";
import { overdueEnding, terminationEnding } from "./endings.ts";
import { trialEnded } from "./trial-failures.ts";
import { accountFor, lateEvidence, taskFailed } from "./verdict.ts";

type Of<T extends Event["type"]> = Extract<Event, { type: T }>;

/** YARN reports that a container has ended: the last that is heard of it. */
export function containerCompleted(step: Step, event: Of<"container-completed">): void {
  const container = step.state.containers[event.containerId];
  if (container === undefined) {
    step.state.ended[event.containerId] ??= "before-allocation";
    return;
  }
  const task = findTask(step, container.task);
  const released = container.phase === "discarded" && event.exitStatus === -100;
  const stopped = container.discardReason !== "" && isGivenUp(event.exitStatus, event.diagnostics.words);
  const byUs = released || stopped;
  const ending =
    task === undefined ? undefined : containerEnding(step, task, container, event.exitStatus, event.diagnostics);
  if (container.phase === "unclaimed") {
    noLongerUnclaimed(step, container);
  }
  if (ending !== undefined && container.phase === "held") {
    containerGone(step, container, ending, "");
  } else if (ending !== undefined && !byUs && !lateEvidence(step, ending)) {
    pardonVanished(step, container, ending);
    if (container.unresolved) {
      judgeReplaced(step, ending);
    }
  }
  accountFor(step, container.id);
  removeContainer(step, container);
  step.changed = true;
}

/** An executor ended without an order: its node ends the container, and YARN will say why. */
export function executorEnded(step: Step, container: ContainerRecord, task: TaskRecord): void {
  if (step.state.phase === "finishing") {
    containerGone(step, container, terminationEnding(step, task, container), "its executor ended");
    return;
  }
  const ending = terminationEnding(step, task, container);
  beginTermination(step, container, "its executor ended", false);
  taskGone(step, task, ending);
}

/** A container can no longer be used. */
export function containerGone(step: Step, container: ContainerRecord, ending: Ending, discardReason: string): void {
  const task = tenantOf(step, container);
  if (task === undefined) {
    return;
  }
  if (container.link === "rejoining") {
    renewAfterLostStart(step, task);
  }
  if (discardReason === "") {
    dropCheckpoint(step, container, "its container is gone");
    moveContainer(step, container, "completed");
    container.discardReason = "completed";
    task.containerId = "";
  } else {
    discard(step, container, discardReason);
  }
  taskGone(step, task, ending);
}

/** A task has lost its container. What that means depends on how far the task had got. */
export function taskGone(step: Step, task: TaskRecord, ending: Ending): void {
  // The container is no longer the task's, whatever its phase.
  noteDurable(step);
  if (ALIVE.includes(task.phase)) {
    lostWhileRunning(step, task, ending);
  } else if (BEFORE_START.includes(task.phase)) {
    lostBeforeStart(step, task, ending);
  } else {
    lateEvidence(step, ending);
  }
}

function lostWhileRunning(step: Step, task: TaskRecord, ending: Ending): void {
  moveTask(step, task, "container-lost");
  task.endedAtMs = ending.atMs;
  task.exit = ending.exit;
  if (step.state.phase !== "finishing") {
    log(step, "warn", "task-lost", `${endingWords(ending.reason)}.`, { task: task.id, container: ending.containerId });
  }
  taskFailed(step, task, ending);
  joinNext(step, task);
}

/** Nothing has started in the container yet: another takes its place and no generation ends. */
function lostBeforeStart(step: Step, task: TaskRecord, ending: Ending): void {
  const { state } = step;
  if (state.phase === "finishing") {
    moveTask(step, task, "container-lost-at-the-end");
    return;
  }
  const gang = gangOf(step, task);
  if (gang.phase === "running" && takesGangAlong(step, task)) {
    moveTask(step, task, "container-lost-in-running-gang");
    taskFailed(step, task, ending);
    joinNext(step, task);
    return;
  }
  const container = state.containers[ending.containerId];
  const isEvidence = lateEvidence(step, ending);
  log(
    step,
    "warn",
    "container-replaced",
    `Another container is asked for, nothing had started yet: ${endingWords(ending.reason)}.`,
    {
      task: task.id,
      container: ending.containerId,
    },
  );
  moveTask(step, task, "container-replaced");
  renewTask(step, task, task.generation);
  if (container?.phase === "terminating" && !ending.machine) {
    container.unresolved = !isEvidence;
  } else if (!isEvidence) {
    judgeReplaced(step, ending);
  }
}

/** What the loss of a container costs in which nothing had started yet: no generation ends, but this must not go on for ever. */
function judgeReplaced(step: Step, ending: Ending): void {
  const task = findTask(step, ending.task);
  if (task === undefined || step.state.phase === "finishing" || isNeededNoMore(step, task)) {
    return;
  }
  const gang = gangOf(step, task);
  const fileFault = fileAtFault(step, ending);
  if (fileFault !== undefined) {
    cannotStart(step, task, { ...ending, class: "program", remedy: { code: "keep-file" } }, fileFault);
    return;
  }
  blame(step, ending);
  // If another task had the container before, that task may have caused its end.
  const isOwn = step.state.containers[ending.containerId]?.handedOver === undefined;
  if (isOwn && ending.class === "program" && charge(step, gang, ending) === undefined) {
    cannotStart(step, task, ending, spentRule(step, gang, ending));
  } else if (isExhausted(step, task, ending)) {
    cannotStart(step, task, ending, exhaustedRule(step, task, ending));
  }
}

/** This fails the job or, where the trial is a gang, the trial; the job does without a sidecar. */
function cannotStart(step: Step, task: TaskRecord, ending: Ending, rule: RuleReason): void {
  const cause = causeOf(ending);
  const { search, trials } = step.spec;
  if (!isSidecar(step, task) && search !== undefined && trials !== undefined) {
    trialEnded(step, search, gangOf(step, task), ending);
    return;
  }
  if (!isSidecar(step, task)) {
    // By now the task waits for another container.
    const { containerId, host, exit, atMs } = ending;
    step.state.judgedLives = { [task.id]: { ...task, phase: "lost", containerId, host, exit, endedAtMs: atMs } };
    finish(step, failedBy(cause, rule));
    return;
  }
  const container = containerOf(step, task);
  if (!mayMove(TASK, task.phase, "given-up")) {
    return;
  }
  moveTask(step, task, "given-up");
  if (container !== undefined) {
    discard(step, container, "its task is given up");
  }
  log(
    step,
    "warn",
    "sidecar-given-up",
    `The job goes on without ${task.id}: ${cause.summary}; ${outcomeWords(rule)}.`,
    {
      task: task.id,
    },
  );
}

/**
 * The time for the gang's programs to stop is up, at a restart or when its stage is done: the containers of those that still run are stopped.
 */
export function stopOverdue(step: Step, gang: GangState): void {
  gang.stopDeadline = undefined;
  if (!isRestarting(gang) && gang.phase !== "done") {
    return;
  }
  const endings = [];
  for (const task of tasksOf(step, gang)) {
    const container = containerOf(step, task);
    if (task.phase === "stopping" && container !== undefined) {
      log(step, "warn", "stop-overdue", `${task.id} did not stop in time: its container is stopped.`, {
        task: task.id,
      });
      endings.push(overdueEnding(step, task, container));
      beginTermination(step, container, "its program did not stop in time", true);
      moveTask(step, task, "stop-overdue");
      joinNext(step, task);
    }
  }
  for (const ending of endings) {
    lateEvidence(step, ending);
  }
}
