import { failedBy } from "../../../src/job/outcome.ts";
import { endingWords, isPreemption } from "../../../src/job/reasons/endings.ts";
import { outcomeWords } from "../../../src/job/reasons/outcomes.ts";
import { openNext, renewAlone, tearDown } from "../gang/restart.ts";
import { finish } from "../job/finish.ts";
import { chiefIsDone } from "../policies/completion.ts";
import { isNeverRestarted, restartPolicyOf, restartsWithGang } from "../policies/restart.ts";
import { isSidecar, toleratesFailure } from "../policies/tolerance.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitOf, deadlineIn, dueMsOf } from "../state/deadlines.ts";
import type { ChildExit } from "../state/events.ts";
import type { ContainerRecord, Ending, TaskRecord, Verdict } from "../state/state.ts";
import { findTask, log, record, type Step } from "../state/step.ts";
import { ALIVE } from "../state/transitions.ts";
import { blame, pardon } from "./blame.ts";
import { charge, isLeft, refund } from "./budgets.ts";
import { causeOf } from "./causes.ts";
import { earlyExitBefore, noteEarlyExit } from "./early-exit.ts";
import { endingRule, isFinal } from "./rules.ts";
import { sharedStartFailure } from "./start-failure.ts";
import { Strength } from "./strength.ts";

/**
 * A task ended badly while its program was wanted. The generation's teardown and its restart begin at once; who was to blame, and whose
 * budget pays, stays open until every task of the generation is accounted for, and a stronger cause that comes later takes it over.
 */
export function taskFailed(step: Step, task: TaskRecord, ending: Ending): void {
  const { state } = step;
  if (state.outcome !== undefined) {
    return;
  }
  const policy = restartPolicyOf(step, task);
  if ((isSidecar(step, task) && policy !== "task") || chiefIsDone(step)) {
    logFailure(step, task, ending);
    blame(step, ending);
    return;
  }
  const open = state.verdicts.find(
    (verdict) => verdict.generation === ending.generation && covers(step, verdict, task),
  );
  if (open !== undefined) {
    addEvidence(step, open, ending);
    return;
  }
  if (state.phase === "restarting" && restartsWithGang(step, task)) {
    return;
  }
  logFailure(step, task, ending);
  const origin = toleratedOrigin(step, ending);
  if (toleratesFailure(step, task) && isCounted(ending) && !isRestartLeft(step, origin ?? ending)) {
    tolerate(step, task, ending);
    return;
  }
  const verdict: Verdict = {
    generation: ending.generation,
    scope: policy === "task" ? task.id : "",
    deadline: deadlineIn(step, step.spec.timeouts.verdictMs),
    endings: origin === undefined ? {} : { [origin.task]: origin },
    root: origin?.task ?? "",
    neverRestarted: "",
    lives: {},
    unaccounted: {},
    charged: undefined,
    held: true,
    proceeded: false,
    expired: false,
  };
  state.verdicts.push(verdict);
  if (verdict.scope === "") {
    for (const other of state.tasks) {
      if (ALIVE.includes(other.phase) && restartsWithGang(step, other)) {
        verdict.unaccounted[other.containerId] = true;
      }
    }
    tearDown(step, endingWords(ending.reason));
  }
  addEvidence(step, verdict, ending);
}

function logFailure(step: Step, task: TaskRecord, ending: Ending): void {
  const { containerId, generation, reason } = ending;
  const fields = { task: task.id, container: containerId, generation, class: ending.class };
  log(step, "warn", "task-failed", `${endingWords(reason)}.`, fields);
  record(step, { type: "task-failed", class: ending.class, reason }, { id: task.id, containerId, generation });
}

function isRestartLeft(step: Step, ending: Ending): boolean {
  return !isFinal(step, ending) && (isPreemption(ending.reason) || isLeft(step, ending.class));
}

/** What followed from our own order costs nothing: whoever gave it has charged for its cause, or is still to learn it. */
function isCounted({ strength }: Ending): boolean {
  return strength > Strength.consequence;
}

/** A program ended well. One that lost its connection to it may have been heard first. */
export function programSucceeded(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): void {
  const early = noteEarlyExit(step, task, container, exit);
  if (early === undefined) {
    return;
  }
  const verdict = step.state.verdicts.find(({ scope, endings }) => {
    return scope === "" && Object.values(endings).some((ending) => earlyExitBefore(step, ending) !== undefined);
  });
  if (verdict !== undefined) {
    addEvidence(step, verdict, early);
  }
}

/** Nothing ends and nothing restarts; its peers may yet fail of it. */
function tolerate(step: Step, task: TaskRecord, ending: Ending): void {
  const { state, spec, nowMs } = step;
  blame(step, ending);
  if (restartsWithGang(step, task)) {
    const recent = state.tolerated.filter(({ seenAtMs }) => nowMs - seenAtMs <= spec.timeouts.verdictMs);
    state.tolerated.splice(0, state.tolerated.length, ...recent, ending);
    state.journal.dirty = true;
  }
}

/** The tolerated failure, if there is one, by which a task lost the connection to its peer. */
function toleratedOrigin({ state, spec }: Step, ending: Ending): Ending | undefined {
  if (ending.strength !== Strength.peerLost) {
    return undefined;
  }
  return state.tolerated.find(
    ({ generation, strength, seenAtMs }) =>
      generation === ending.generation &&
      strength > Strength.peerLost &&
      ending.seenAtMs - seenAtMs <= spec.timeouts.verdictMs,
  );
}

/**
 * How a program ends when its NodeManager ends the container: by a signal, or as a shell says so of what it ran (128 + the signal's
 * number). YARN's completion status, which says why, may be on its way.
 */
const KILLED: ReadonlySet<string> = new Set(["SIGTERM", "SIGKILL", "143", "137"]);

/** An executor that is still well by then was not meant; one that left is accounted for by YARN, or when the verdict's time is up. */
function awaitCompletionStatus(step: Step, verdict: Verdict, ending: Ending): void {
  verdict.unaccounted[ending.containerId] = true;
  if (ending.source === "child") {
    const container = step.state.containers[ending.containerId];
    if (container !== undefined) {
      awaitOf(step, container, "completion-status", 2 * step.identity.nodeHeartbeatMs + Bounds.completionStatusMs);
    }
  }
}

/** The end of what ran in this container is known. */
export function accountFor(step: Step, containerId: string): void {
  for (const verdict of step.state.verdicts) {
    delete verdict.unaccounted[containerId];
  }
}

/** Its executor is well, so YARN has no completion status for the program that ended in it; what its task did in a later generation is another matter. */
export function completionStatusOverdue(step: Step, container: ContainerRecord): void {
  for (const verdict of step.state.verdicts) {
    if (verdict.endings[container.task]?.containerId === container.id) {
      delete verdict.unaccounted[container.id];
    }
  }
}

/** YARN's late completion status of a container that was given up: it may be the root of what is still being judged. False when nothing is. */
export function lateEvidence(step: Step, ending: Ending): boolean {
  if (step.state.outcome !== undefined) {
    return false;
  }
  const task = findTask(step, ending.task);
  const verdict = step.state.verdicts.find(
    (open) =>
      open.generation === ending.generation &&
      task !== undefined &&
      covers(step, open, task) &&
      isAwaited(open, ending),
  );
  if (verdict !== undefined) {
    addEvidence(step, verdict, ending);
  }
  return verdict !== undefined;
}

/** A task whose program ended by our own order is accounted for: what becomes of its container later was no cause. */
function isAwaited(verdict: Verdict, ending: Ending): boolean {
  return (
    verdict.unaccounted[ending.containerId] === true || verdict.endings[ending.task]?.containerId === ending.containerId
  );
}

/** Closes the verdicts whose picture is complete or whose time is up; once the job's outcome is decided the others stay as they are. */
export function closeVerdicts(step: Step): void {
  const { state } = step;
  for (const verdict of [...state.verdicts]) {
    if (state.outcome === undefined && (verdict.expired || isEmpty(verdict.unaccounted))) {
      state.verdicts.splice(state.verdicts.indexOf(verdict), 1);
      close(step, verdict);
    }
  }
}

/** When the time of the next verdict is up. */
export function verdictsDueMs({ state }: Step): number | undefined {
  const open = state.verdicts.filter(({ expired }) => !expired);
  return open.length === 0 ? undefined : Math.min(...open.map(({ deadline }) => dueMsOf(state, deadline)));
}

export function verdictsOverdue({ state, nowMs }: Step): void {
  for (const verdict of state.verdicts) {
    verdict.expired ||= dueMsOf(state, verdict.deadline) <= nowMs;
  }
}

function close(step: Step, verdict: Verdict): void {
  const root = rootOf(verdict);
  if (root === undefined) {
    return;
  }
  const rule = endingRule(step, root, verdict.neverRestarted);
  const uncounted = verdict.held ? outcomeWords(rule) : "not counted";
  const counted = verdict.charged === undefined ? uncounted : `counted as ${verdict.charged}`;
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
  if (verdict.held && !isIgnored) {
    step.state.judgedLives = judgedLives(verdict);
    finish(step, failedBy(causeOf(root, verdict.endings), rule));
  }
}

/** YARN's completion status of a life may have come after its task had begun another one. */
function judgedLives({ lives, endings }: Verdict): Record<string, TaskRecord> {
  const judged = Object.values(lives).map((life): [string, TaskRecord] => {
    const ending = endings[life.id];
    return [life.id, ending?.source === "yarn" ? { ...life, exit: ending.exit } : life];
  });
  return Object.fromEntries(judged);
}

function addEvidence(step: Step, verdict: Verdict, ending: Ending): void {
  const earlier = verdict.endings[ending.task];
  if (earlier !== undefined && !(ending.source === "yarn" && earlier.source !== "yarn")) {
    return;
  }
  if (earlier !== undefined) {
    pardon(step, earlier);
  }
  const lines = earlier !== undefined && earlier.lines.length > 0 ? earlier.lines : ending.lines;
  const since = earlier ?? ending;
  const early = earlyExitBefore(step, ending);
  if (early !== undefined && verdict.scope === "" && verdict.endings[early.task] === undefined) {
    enter(verdict, early);
  }
  const known = { ...ending, lines, atMs: since.atMs, seenAtMs: since.seenAtMs };
  enter(verdict, known);
  const task = findTask(step, ending.task);
  if (task !== undefined && isNeverRestarted(step, task) && !toleratesFailure(step, task)) {
    verdict.neverRestarted = task.id;
  }
  if (ending.source === "link" || (ending.source === "child" && KILLED.has(ending.exit))) {
    awaitCompletionStatus(step, verdict, ending);
  }
  blame(step, known);
  reconsider(step, verdict);
}

/** The strongest is the root, among equals the earliest. */
function enter(verdict: Verdict, ending: Ending): void {
  verdict.endings[ending.task] = ending;
  const root = rootOf(verdict);
  if (root === undefined || root.task === ending.task || isNearer(ending, root)) {
    verdict.root = ending.task;
  }
}

/** Charges the class of the present root cause, giving back what another one was charged, and goes on where the job can. */
function reconsider(step: Step, verdict: Verdict): void {
  const root = rootOf(verdict);
  if (root === undefined) {
    return;
  }
  const free = isPreemption(root.reason);
  if (verdict.charged !== undefined && (free || verdict.charged !== root.class)) {
    refund(step, verdict.charged);
    verdict.charged = undefined;
  }
  const counts = isCounted(root);
  if (counts) {
    noteCause(step, verdict, root);
  }
  const final = isFinal(step, root, verdict.neverRestarted);
  if (counts && !free && verdict.charged === undefined && !final && charge(step, root.class)) {
    verdict.charged = root.class;
  }
  verdict.held = counts && (final || (!free && verdict.charged === undefined));
  step.state.journal.dirty = true;
  step.changed = true;
  if (!verdict.held && !verdict.proceeded) {
    verdict.proceeded = true;
    proceed(step, verdict, root);
  }
}

function proceed(step: Step, verdict: Verdict, root: Ending): void {
  if (verdict.scope === "") {
    openNext(step, endingWords(root.reason));
  } else {
    renewAlone(step, verdict.scope, endingWords(root.reason));
  }
}

function rootOf(verdict: Verdict): Ending | undefined {
  return verdict.endings[verdict.root];
}

function isNearer(ending: Ending, root: Ending): boolean {
  return ending.strength > root.strength || (ending.strength === root.strength && ending.seenAtMs < root.seenAtMs);
}

function noteCause(step: Step, verdict: Verdict, root: Ending): void {
  const generation = step.state.generations.find((one) => one.generation === verdict.generation);
  if (generation !== undefined && verdict.scope === "") {
    generation.endedBy = causeOf(root, verdict.endings);
    generation.startFailure = sharedStartFailure(step, root, verdict.endings);
  }
}

function covers(step: Step, verdict: Verdict, task: TaskRecord): boolean {
  const policy = restartPolicyOf(step, task);
  return verdict.scope === (policy === "task" ? task.id : "") && (policy === "task" || !isSidecar(step, task));
}

function isEmpty(record: Readonly<Record<string, true>>): boolean {
  for (const _ in record) {
    return false;
  }
  return true;
}
