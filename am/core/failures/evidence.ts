import { endingWords, takenBackFor } from "../../../src/job/reasons/endings.ts";
import { hasGangRestart, openNext, renewAlone } from "../gang/restart.ts";
import { restartsWithGang } from "../policies/restart.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitOf } from "../state/deadlines.ts";
import type { Ending, Verdict } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import { findTask, noteDurable, type Step } from "../state/step.ts";
import { moveVerdict } from "../state/verdict-moves.ts";
import { blame, cannotBeLost, charge, isFinal, pardon, refund, sharedStartFailure } from "./budgets.ts";
import { causeOf, cutOffBefore, earlyExitBefore } from "./cause.ts";
import { isCounted, Strength } from "./endings.ts";

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

export function addEvidence(step: Step, gang: GangState, verdict: Verdict, ending: Ending): void {
  const earlier = verdict.endings[ending.task];
  if (earlier !== undefined && !replaces(ending, earlier)) {
    return;
  }
  if (earlier !== undefined) {
    pardon(step, earlier);
  }
  const told = rootOf(verdict);
  const lines = earlier !== undefined && earlier.lines.length > 0 ? earlier.lines : ending.lines;
  // When its node was cut off is reckoned, and reckoned anew when that is told again: it is not when the task was seen to end.
  const since = earlier === undefined || earlier.strength === Strength.cutOff ? ending : earlier;
  const early = earlyExitBefore(gang, ending);
  if (early !== undefined && verdict.scope === "" && verdict.endings[early.task] === undefined) {
    enter(verdict, early);
  }
  const known = { ...ending, lines, atMs: since.atMs, seenAtMs: since.seenAtMs };
  enter(verdict, known);
  const task = findTask(step, ending.task);
  if (task !== undefined && cannotBeLost(step, task) && !isCounted(ending)) {
    renewAlone(step, task.id, endingWords(ending.reason));
  }
  if (mayBeExplained(ending)) {
    awaitCompletionStatus(step, verdict, ending);
  }
  blame(step, known);
  reconsider(step, gang, verdict);
  correctReason(step, gang, verdict, told);
}

/** Whoever was told why it starts again is told what has turned out since. */
function correctReason(step: Step, gang: GangState, verdict: Verdict, told: Ending | undefined): void {
  const restarted = verdict.scope === "" ? gang : findTask(step, verdict.scope);
  const root = rootOf(verdict);
  if (told !== undefined && root !== undefined && restarted?.restartReason === endingWords(told.reason)) {
    restarted.restartReason = endingWords(root.reason);
  }
}

/**
 * YARN's completion status counts for more than what a link showed; that a container ended by order says nothing of its program's end.
 * That its node had been cut off counts for less than anything that is heard of the task itself.
 */
function replaces(ending: Ending, earlier: Ending): boolean {
  if (ending.source === "yarn") {
    const isCause = isCounted(ending) && !hadEndedBefore(earlier, ending);
    return earlier.source !== "yarn" && (isCause || earlier.source === "link");
  }
  return earlier.strength === Strength.cutOff && isCounted(ending);
}

/**
 * YARN ended the container for what was used in it, and its program had ended well, or of a lost connection, before. What the
 * infrastructure ends may have cut the connection as well.
 */
function hadEndedBefore(earlier: Ending, ending: Ending): boolean {
  const endedItself = earlier.source === "child" && earlier.strength < Strength.exit && !KILLED.has(earlier.exit);
  return endedItself && ending.class === "program";
}

/** The strongest is the root, among equals the earliest. */
function enter(verdict: Verdict, ending: Ending): void {
  verdict.endings[ending.task] = ending;
  const root = rootOf(verdict);
  if (root === undefined || root.task === ending.task || isNearer(ending, root)) {
    verdict.root = isCounted(ending) ? ending.task : nearestCounted(verdict, ending).task;
  }
}

/** What turned out to be no cause leaves the place to one that is, where there is any. */
function nearestCounted({ endings }: Verdict, ending: Ending): Ending {
  const counted = Object.values(endings).filter(isCounted);
  return counted.reduce((root, other) => (isCounted(root) && !isNearer(other, root) ? root : other), ending);
}

/** Where nothing is known but a lost connection, and a node was cut off then, that is what it followed from. */
function enterCutOff(step: Step, gang: GangState, verdict: Verdict): void {
  const root = rootOf(verdict);
  const cutOff = root && cutOffBefore(step, gang, root);
  if (cutOff !== undefined) {
    const { exit, lines } = verdict.endings[cutOff.task] ?? cutOff;
    enter(verdict, { ...cutOff, exit, lines });
  }
}

/**
 * Where nothing is known but a lost connection or an exit with 0, and an earlier attempt had given a container of the generation up: that
 * attempt knew why, and left no word of it. Nobody pays for what is not known.
 */
function enterGivenUp(verdict: Verdict): void {
  const isGivenUp = ({ source, reason }: Ending) => source === "yarn" && reason.code === "stopped-by-earlier-attempt";
  const givenUp = Object.values(verdict.endings).find(isGivenUp);
  const { strength } = rootOf(verdict) ?? {};
  if (givenUp !== undefined && (strength === Strength.peerLost || strength === Strength.earlyExit)) {
    verdict.root = givenUp.task;
  }
}

/** Charges the class of the present root cause, giving back what another one was charged, and goes on where the job can. */
export function reconsider(step: Step, gang: GangState, verdict: Verdict): void {
  enterCutOff(step, gang, verdict);
  enterGivenUp(verdict);
  const root = rootOf(verdict);
  if (root === undefined) {
    return;
  }
  const free = takenBackFor(root.reason) !== undefined;
  if (verdict.charged !== undefined && (free || verdict.charged !== root.class)) {
    refund(gang, verdict.charged);
    verdict.charged = undefined;
  }
  const counts = isCounted(root);
  noteCause(step, gang, verdict, root);
  const final = isFinal(step, gang, root, verdict.endings);
  if (counts && !free && verdict.charged === undefined && !final && charge(step, gang, root.class)) {
    verdict.charged = root.class;
  }
  noteDurable(step);
  step.changed = true;
  const isHeld = verdict.phase === "held";
  const cannotGoOn = counts && (final || (!free && verdict.charged === undefined));
  moveVerdict(step, verdict, cannotGoOn ? "job-cannot-go-on" : "job-can-go-on");
  if (isHeld && verdict.phase === "proceeded") {
    proceed(step, gang, verdict, root);
  }
}

function proceed(step: Step, gang: GangState, verdict: Verdict, root: Ending): void {
  if (verdict.scope !== "") {
    renewScope(step, verdict, endingWords(root.reason));
  } else if (hasGangRestart(step, gang)) {
    openNext(step, gang, endingWords(root.reason));
  }
}

/** A task that its gang has taken along into a generation since then goes on with that. */
function renewScope(step: Step, { scope, generation }: Verdict, reason: string): void {
  const task = findTask(step, scope);
  if (task !== undefined && (task.generation === generation || !restartsWithGang(step, task))) {
    renewAlone(step, scope, reason);
  }
}

export function rootOf(verdict: Verdict): Ending | undefined {
  return verdict.endings[verdict.root];
}

function isNearer(ending: Ending, root: Ending): boolean {
  return ending.strength > root.strength || (ending.strength === root.strength && ending.seenAtMs < root.seenAtMs);
}

/** What it is told as now: while YARN's completion status is awaited, no more than that. */
function asKnown(verdict: Verdict, root: Ending): Ending {
  const { reason } = root;
  const isAwaited =
    verdict.deadline !== undefined && mayBeExplained(root) && verdict.unaccounted[root.containerId] === true;
  if (!isAwaited || (reason.code !== "program-signalled" && reason.code !== "program-exited")) {
    return root;
  }
  return { ...root, reason: { ...reason, awaited: true } };
}

function mayBeExplained({ source, exit }: Ending): boolean {
  return source === "link" || (source === "child" && KILLED.has(exit));
}

export function noteCause(step: Step, gang: GangState, verdict: Verdict, root: Ending): void {
  const generation = gang.generations.find((one) => one.generation === verdict.generation);
  if (generation !== undefined && verdict.scope === "") {
    const isKnown = isCounted(root);
    generation.endedBy = isKnown ? causeOf(asKnown(verdict, root), verdict.endings) : undefined;
    generation.startFailure = isKnown ? sharedStartFailure(step, root, verdict.endings) : undefined;
  }
}
