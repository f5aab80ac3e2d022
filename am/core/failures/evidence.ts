import { endingWords, takenBackFor } from "../../../src/job/reasons/endings.ts";
import { mayMove } from "../../../src/moves.ts";
import { isSamePayer, refund } from "../gang/charges.ts";
import { hasGangRestart, openNext, renewAlone } from "../gang/restart.ts";
import { restartsWithGang } from "../policies/restart.ts";
import { leadOfGang } from "../policies/trials.ts";
import { Bounds } from "../state/bounds.ts";
import { awaitOf } from "../state/deadlines.ts";
import type { Ending, Verdict } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import { GANG } from "../state/gang-moves.ts";
import { findTask, noteDurable, type Step } from "../state/step.ts";
import { moveVerdict } from "../state/verdict-moves.ts";
import { blame, cannotBeLost, charge, isFinal, pardon, payerOf, sharedStartFailure } from "./budgets.ts";
import {
  causeOf,
  earlyExitBefore,
  enter,
  enterCutOff,
  enterGivenUp,
  mayBeExplained,
  replaces,
  rootOf,
} from "./cause.ts";
import { isCounted, Strength } from "./endings.ts";
import { renewTrial } from "./trial-failures.ts";

/** Adds how a task ended to an open verdict, and judges anew. */
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
  // The time of a node's cut-off is estimated, and estimated anew with each report: it is not when the task was seen to end.
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

/**
 * If the executor is still well by then, the container was not ended; one that left is accounted for by YARN, or when the verdict's
 * time is up.
 */
function awaitCompletionStatus(step: Step, verdict: Verdict, ending: Ending): void {
  verdict.unaccounted[ending.containerId] = true;
  if (ending.source === "child") {
    const container = step.state.containers[ending.containerId];
    if (container !== undefined) {
      awaitOf(step, container, "completion-status", 2 * step.identity.nodeHeartbeatMs + Bounds.completionStatusMs);
    }
  }
}

/** Gangs and tasks that were told why they start again are told what has turned out since. */
function correctReason(step: Step, gang: GangState, verdict: Verdict, told: Ending | undefined): void {
  const restarted = verdict.scope === "" ? [gang, leadOfGang(step, gang)] : [findTask(step, verdict.scope)];
  const root = rootOf(verdict);
  for (const one of restarted) {
    if (told !== undefined && root !== undefined && one?.restartReason === endingWords(told.reason)) {
      one.restartReason = endingWords(root.reason);
    }
  }
}

/** Charges the class of the present root cause, refunds an earlier charge to another, and lets the job go on where it can. */
export function reconsider(step: Step, gang: GangState, verdict: Verdict): void {
  enterCutOff(step, gang, verdict);
  enterGivenUp(verdict);
  const root = rootOf(verdict);
  if (root === undefined) {
    return;
  }
  const free = takenBackFor(root.reason) !== undefined;
  if (verdict.charged !== undefined && (free || !isSamePayer(verdict.charged, payerOf(step, root)))) {
    refund(gang, verdict.charged);
    verdict.charged = undefined;
  }
  const counts = isCounted(root);
  noteCause(step, gang, verdict, root);
  const final = isFinal(step, gang, root, verdict.endings);
  if (counts && !free && verdict.charged === undefined && !final) {
    verdict.charged = charge(step, gang, root);
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
  } else if (hasGangRestart(step, gang) && mayMove(GANG, gang.phase, "generation-opened")) {
    // Another verdict may have opened a generation since, which runs.
    renewTrial(step, gang, root);
    openNext(step, gang, endingWords(root.reason));
  }
}

/** A task that its gang has since taken along into a new generation stays in that. */
function renewScope(step: Step, { scope, generation }: Verdict, reason: string): void {
  const task = findTask(step, scope);
  if (task !== undefined && (task.generation === generation || !restartsWithGang(step, task))) {
    renewAlone(step, scope, reason);
  }
}

/** The root as people are told of it now: while YARN's completion status is awaited, the reason says so. */
function asKnown(verdict: Verdict, root: Ending): Ending {
  const { reason } = root;
  const isAwaited =
    verdict.deadline !== undefined && mayBeExplained(root) && verdict.unaccounted[root.containerId] === true;
  if (!isAwaited || (reason.code !== "program-signalled" && reason.code !== "program-exited")) {
    return root;
  }
  return { ...root, reason: { ...reason, awaited: true } };
}

/** What people are told ended the generation, as far as it is known. */
export function noteCause(step: Step, gang: GangState, verdict: Verdict, root: Ending): void {
  const generation = gang.generations.find((one) => one.generation === verdict.generation);
  if (generation !== undefined && verdict.scope === "") {
    const isKnown = isCounted(root);
    generation.endedBy = isKnown ? causeOf(asKnown(verdict, root), verdict.endings) : undefined;
    generation.startFailure = isKnown ? sharedStartFailure(step, root, verdict.endings) : undefined;
  }
}
