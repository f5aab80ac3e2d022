import { failedBy } from "../../../src/job/outcome.ts";
import { endingWords, takenBackFor } from "../../../src/job/reasons/endings.ts";
import { outcomeWords } from "../../../src/job/reasons/outcomes.ts";
import { hasGangRestart, renewAlone, tearDown } from "../gang/restart.ts";
import { doneForGood } from "../gang/stages.ts";
import { finish } from "../job/finish.ts";
import { isNeededNoMore, isSidecar, toleratesFailure } from "../policies/completion.ts";
import { joinsLate, restartPolicyOf, restartsWithGang } from "../policies/restart.ts";
import { haltOf, isOfTasks, leadOf } from "../policies/trials.ts";
import { deadlineIn, dueMsOf, rejoinLeftMs } from "../state/deadlines.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending, Verdict } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import { isRestarting } from "../state/gang-moves.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { findTask, gangOf, log, noteDurable, record, type Step, tasksOf } from "../state/step.ts";
import { ALIVE } from "../state/task-moves.ts";
import { endsJob } from "../state/verdict-moves.ts";
import { blame, endingRule, isFinal, isLeft, mustNotFail } from "./budgets.ts";
import {
  causeOf,
  cutOffBefore,
  earlyExitBefore,
  mayBeExplained,
  noteEarlyExit,
  noteSuspension,
  rootOf,
} from "./cause.ts";
import { isCounted, Strength } from "./endings.ts";
import { addEvidence, noteCause, reconsider } from "./evidence.ts";
import { trialEnded, trialFailed } from "./trial-failures.ts";

/**
 * A task ended badly while its program was wanted. The generation's teardown and its restart begin at once. The cause, and whose budget pays,
 * stay open until every task of the generation is accounted for: a stronger cause that arrives later takes over.
 */
export function taskFailed(step: Step, task: TaskRecord, found: Ending): void {
  const { state } = step;
  if (state.outcome !== undefined) {
    return;
  }
  if (haltOf(leadOf(step, task)) !== undefined) {
    // However it ends, its search goes on without it.
    doneForGood(step, task);
    return;
  }
  const gang = gangOf(step, task);
  const endsJobAlone = isNeededNoMore(step, task) && mustNotFail(step, task, found);
  const policy = endsJobAlone ? "task" : policyAfter(step, task, found);
  // A task that had joined its gang late has a generation number of its own; its failure ends the generation of the others.
  const ending = policy === "gang" && task.late ? ofOthers(found, gang.generation) : found;
  const isSidecarAlone = isSidecar(step, task) && policy !== "task";
  if (isSidecarAlone || (isNeededNoMore(step, task) && !endsJobAlone)) {
    logFailure(step, task, ending);
    blame(step, ending);
    return;
  }
  if (policy === "none" && !isCounted(ending)) {
    // It did not fail: an earlier attempt had stopped it.
    logFailure(step, task, ending);
    renewAlone(step, task.id, endingWords(ending.reason));
    return;
  }
  const open = gang.verdicts.find(
    (verdict) => verdict.generation === ending.generation && covers(step, verdict, task, policy),
  );
  if (open !== undefined) {
    addEvidence(step, gang, open, ending);
    return;
  }
  if (isRestarting(gang) && restartsWithGang(step, task)) {
    return;
  }
  logFailure(step, task, ending);
  const origin = toleratedOrigin(step, gang, ending);
  const root = origin ?? cutOffBefore(step, gang, ending) ?? ending;
  const isUnexplained = isOfTasks(step) && mayBeExplained(ending);
  if (toleratesFailure(step, task) && isCounted(ending) && !isUnexplained && !isRestartLeft(step, gang, root)) {
    tolerate(step, task, ending);
    if (step.spec.search !== undefined && isOfTasks(step)) {
      trialFailed(step, step.spec.search, task, ending);
    }
    return;
  }
  const verdict: Verdict = {
    generation: ending.generation,
    scope: policy === "task" ? task.id : "",
    deadline: deadlineIn(step, rejoinLeftMs(step) + step.spec.timeouts.verdictMs),
    endings: origin === undefined ? {} : { [origin.task]: origin },
    root: origin?.task ?? "",
    lives: {},
    unaccounted: {},
    charged: undefined,
    phase: "held",
  };
  gang.verdicts.push(verdict);
  if (verdict.scope === "") {
    for (const other of tasksOf(step, gang)) {
      if (ALIVE.includes(other.phase) && restartsWithGang(step, other)) {
        verdict.unaccounted[other.containerId] = true;
      }
    }
    if (hasGangRestart(step, gang)) {
      tearDown(step, gang, endingWords(ending.reason));
    }
  }
  addEvidence(step, gang, verdict, ending);
}

function logFailure(step: Step, task: TaskRecord, ending: Ending): void {
  const { containerId, generation, reason } = ending;
  const fields = { task: task.id, container: containerId, generation, class: ending.class };
  log(step, "warn", "task-failed", `${endingWords(reason)}.`, fields);
  record(step, { type: "task-failed", class: ending.class, reason }, { id: task.id, containerId, generation });
}

function isRestartLeft(step: Step, gang: GangState, ending: Ending): boolean {
  return !isFinal(step, gang, ending) && (takenBackFor(ending.reason) !== undefined || isLeft(step, gang, ending));
}

/** A program ended well. A peer that lost its connection to it may have been heard first. */
export function programSucceeded(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): void {
  const early = noteEarlyExit(step, task, container, exit);
  if (early === undefined) {
    return;
  }
  const gang = gangOf(step, task);
  const verdict = gang.verdicts.find(({ scope, endings }) => {
    return scope === "" && Object.values(endings).some((ending) => earlyExitBefore(gang, ending) !== undefined);
  });
  if (verdict !== undefined) {
    addEvidence(step, gang, verdict, early);
  }
}

/** Its executor was cut off and had suspended its program: failures that are being judged may have followed from that. */
export function programSuspended(step: Step, task: TaskRecord, container: ContainerRecord, suspendedMs: number): void {
  noteSuspension(step, task, container, suspendedMs);
  const gang = gangOf(step, task);
  for (const verdict of gang.verdicts.filter(({ generation }) => generation === task.generation)) {
    reconsider(step, gang, verdict);
  }
}

/** Nothing ends and nothing restarts; its peers may still fail because of it. */
function tolerate(step: Step, task: TaskRecord, ending: Ending): void {
  const { spec, nowMs } = step;
  blame(step, ending);
  if (restartsWithGang(step, task)) {
    const { tolerated } = gangOf(step, task);
    const recent = tolerated.filter(({ seenAtMs }) => nowMs - seenAtMs <= spec.timeouts.verdictMs);
    tolerated.splice(0, tolerated.length, ...recent, ending);
    noteDurable(step);
  }
}

/** The tolerated failure, if there is one, by which a task lost the connection to its peer. */
function toleratedOrigin({ spec }: Step, gang: GangState, ending: Ending): Ending | undefined {
  if (ending.strength !== Strength.peerLost) {
    return undefined;
  }
  return gang.tolerated.find(
    ({ generation, strength, seenAtMs }) =>
      generation === ending.generation &&
      strength > Strength.peerLost &&
      ending.seenAtMs - seenAtMs <= spec.timeouts.verdictMs,
  );
}

/** YARN's late completion status of a container that was given up: it may be the root of an open verdict. False when it belongs to none. */
export function lateEvidence(step: Step, ending: Ending): boolean {
  if (step.state.outcome !== undefined) {
    return false;
  }
  const task = findTask(step, ending.task);
  if (task === undefined) {
    return false;
  }
  const gang = gangOf(step, task);
  // What restarts with the task may have changed by now: a gang that is done restarts nothing.
  const verdict = gang.verdicts.find(
    (open) => isOfLife(open, ending) && isAwaited(open, ending) && (open.scope === task.id || !isSidecar(step, task)),
  );
  if (verdict !== undefined) {
    const isOthers = verdict.generation !== ending.generation;
    addEvidence(step, gang, verdict, isOthers ? ofOthers(ending, verdict.generation) : ending);
  }
  return verdict !== undefined;
}

/** The end of a task that had joined its gang late, with a number of its own, as one of the generation that it joined. */
function ofOthers(ending: Ending, generation: number): Ending {
  return { ...ending, generation, joinedAs: ending.generation };
}

function isOfLife({ generation, endings }: Verdict, ending: Ending): boolean {
  return generation === ending.generation || endings[ending.task]?.joinedAs === ending.generation;
}

/** A task whose program ended by our own order is accounted for: what happens to its container later was no cause. */
function isAwaited(verdict: Verdict, ending: Ending): boolean {
  return (
    verdict.unaccounted[ending.containerId] === true || verdict.endings[ending.task]?.containerId === ending.containerId
  );
}

/**
 * What starts again after such an end. Other tasks of an elastic role go on without a task whose container is lost, and in some jobs without
 * one whose program has failed. A program that failed because it had lost a peer could not go on without that peer, so its gang starts again.
 */
function policyAfter(step: Step, task: TaskRecord, { strength, source }: Ending): ReturnType<typeof restartPolicyOf> {
  const isLost = strength >= Strength.signal || source === "yarn";
  const isOwn = isLost || (step.spec.outlivesExits === true && strength > Strength.peerLost);
  return isOwn && joinsLate(step, task) ? "task" : restartPolicyOf(step, task);
}

function covers(step: Step, verdict: Verdict, task: TaskRecord, policy: string): boolean {
  return verdict.scope === (policy === "task" ? task.id : "") && (policy === "task" || !isSidecar(step, task));
}

/** The end of what ran in this container is known. */
export function accountFor(step: Step, containerId: string): void {
  for (const { verdicts } of step.state.gangs) {
    for (const verdict of verdicts) {
      delete verdict.unaccounted[containerId];
    }
  }
}

/**
 * Its executor is well, so YARN has no completion status for the program that ended in it. What its task did in a later generation is a
 * separate matter.
 */
export function completionStatusOverdue(step: Step, container: ContainerRecord): void {
  for (const verdict of gangOf(step, container).verdicts) {
    if (verdict.endings[container.task]?.containerId === container.id) {
      delete verdict.unaccounted[container.id];
    }
  }
}

/** Closes the verdicts whose picture is complete or whose time is up; once the job's outcome is decided the others stay open. */
export function closeVerdicts(step: Step, gang: GangState): void {
  for (const verdict of [...gang.verdicts]) {
    if (step.state.outcome === undefined && (verdict.deadline === undefined || isEmpty(verdict.unaccounted))) {
      gang.verdicts.splice(gang.verdicts.indexOf(verdict), 1);
      close(step, gang, verdict);
    }
  }
}

/** When the time of the next verdict is up. */
export function verdictsDueMs({ state }: Step, { verdicts }: GangState): number | undefined {
  const dues = verdicts.flatMap(({ deadline }) => (deadline === undefined ? [] : [dueMsOf(state, deadline)]));
  return dues.length === 0 ? undefined : Math.min(...dues);
}

export function verdictsOverdue({ state, nowMs }: Step, { verdicts }: GangState): void {
  for (const verdict of verdicts) {
    if (verdict.deadline !== undefined && dueMsOf(state, verdict.deadline) <= nowMs) {
      verdict.deadline = undefined;
    }
  }
}

function close(step: Step, gang: GangState, verdict: Verdict): void {
  const root = rootOf(verdict);
  if (root === undefined) {
    return;
  }
  noteCause(step, gang, verdict, root);
  const rule = endingRule(step, gang, root, verdict.endings);
  const uncounted = endsJob(verdict) ? outcomeWords(rule) : "not counted";
  const counted = verdict.charged === undefined ? uncounted : `counted as ${verdict.charged.class}`;
  log(
    step,
    "info",
    "verdict",
    `Root cause of generation ${verdict.generation}'s end: ${endingWords(root.reason)} (${counted}).`,
    {
      task: root.task,
      generation: verdict.generation,
      class: root.class,
    },
  );
  const task = findTask(step, verdict.scope);
  const isIgnored = task !== undefined && isSidecar(step, task);
  const { search, trials } = step.spec;
  if (endsJob(verdict) && !isIgnored && search !== undefined && trials !== undefined) {
    trialEnded(step, search, gang, root);
  } else if (endsJob(verdict) && search !== undefined && task !== undefined && toleratesFailure(step, task)) {
    trialFailed(step, search, task, root, verdict.lives[task.id]);
  } else if (endsJob(verdict) && !isIgnored) {
    step.state.judgedLives = judgedLives(verdict);
    finish(step, failedBy(causeOf(root, verdict.endings), rule));
  }
}

/** YARN's completion status of a life may arrive after its task has begun another one. */
function judgedLives({ lives, endings }: Verdict): Record<string, TaskRecord> {
  const judged = Object.values(lives).map((life): [string, TaskRecord] => {
    const ending = endings[life.id];
    return [life.id, ending?.source === "yarn" ? { ...life, exit: ending.exit } : life];
  });
  return Object.fromEntries(judged);
}

function isEmpty(record: Readonly<Record<string, true>>): boolean {
  for (const _ in record) {
    return false;
  }
  return true;
}
