import { type Consequence, consequenceWords, endingWords, type Relation } from "../../../src/job/reasons/endings.ts";
import { remedyWords } from "../../../src/job/reasons/remedies.ts";
import type { RoleSpec } from "../../../src/job/spec.ts";
import type { Cause } from "../../../src/job/status.ts";
import { EVALUATOR } from "../policies/completion.ts";
import { restartsWithGang } from "../policies/restart.ts";
import type { ChildExit } from "../state/events.ts";
import type { Ending, Suspension, Verdict } from "../state/failures.ts";
import type { GangState } from "../state/gang.ts";
import type { ContainerRecord, TaskRecord } from "../state/records.ts";
import { gangOf, noteDurable, roleOf, rolesOf, type Step } from "../state/step.ts";
import { exitWords, isCounted, linesOf, Strength, seen, when, where } from "./endings.ts";

/**
 * How a program ends when its NodeManager ends the container: by a signal, or with the code by which a shell reports one (128 + the signal's
 * number). YARN's completion status, which says why, may be on its way.
 */
const KILLED: ReadonlySet<string> = new Set(["SIGTERM", "SIGKILL", "143", "137"]);

/** How many consequences are named at most; a gang of thousands fails together. */
const MOST_CONSEQUENCES = 20;
const MOST_LINES = 20;
const MOST_LINES_OF_LEAVER = 5;

export function rootOf(verdict: Verdict): Ending | undefined {
  return verdict.endings[verdict.root];
}

function isNearer(ending: Ending, root: Ending): boolean {
  return ending.strength > root.strength || (ending.strength === root.strength && ending.seenAtMs < root.seenAtMs);
}

/** YARN may still say why it ended in this way. */
export function mayBeExplained({ source, exit }: Ending): boolean {
  return source === "link" || (source === "child" && KILLED.has(exit));
}

/**
 * YARN's completion status counts for more than what a link showed, but a container ended by order says nothing about its program's end. That
 * a task's node had been cut off counts for less than anything heard of the task itself.
 */
export function replaces(ending: Ending, earlier: Ending): boolean {
  if (ending.source === "yarn") {
    const isCause = isCounted(ending) && !hadEndedBefore(earlier, ending);
    return earlier.source !== "yarn" && (isCause || earlier.source === "link");
  }
  return earlier.strength === Strength.cutOff && isCounted(ending);
}

/**
 * YARN ended the container for the resources used in it, after its program had already ended well or because of a lost connection. What the
 * infrastructure ends may have cut the connection as well.
 */
function hadEndedBefore(earlier: Ending, ending: Ending): boolean {
  const endedItself = earlier.source === "child" && earlier.strength < Strength.exit && !KILLED.has(earlier.exit);
  return endedItself && ending.class === "program";
}

/** The strongest ending is the root; among equals, the earliest. */
export function enter(verdict: Verdict, ending: Ending): void {
  verdict.endings[ending.task] = ending;
  const root = rootOf(verdict);
  if (root === undefined || root.task === ending.task || isNearer(ending, root)) {
    verdict.root = isCounted(ending) ? ending.task : nearestCounted(verdict, ending).task;
  }
}

/** An ending that turned out to be no cause gives its place to one that is, if there is any. */
function nearestCounted({ endings }: Verdict, ending: Ending): Ending {
  const counted = Object.values(endings).filter(isCounted);
  return counted.reduce((root, other) => (isCounted(root) && !isNearer(other, root) ? root : other), ending);
}

/** Where only a lost connection is known, and a node was cut off at that time, the cut-off is what it followed from. */
export function enterCutOff(step: Step, gang: GangState, verdict: Verdict): void {
  const root = rootOf(verdict);
  const cutOff = root && cutOffBefore(step, gang, root);
  if (cutOff !== undefined) {
    const { exit, lines } = verdict.endings[cutOff.task] ?? cutOff;
    enter(verdict, { ...cutOff, exit, lines });
  }
}

/**
 * Where only a lost connection or an exit with 0 is known, and an earlier attempt had given up a container of the generation: that attempt
 * knew why, and left no record of it. Nobody pays for an unknown cause.
 */
export function enterGivenUp(verdict: Verdict): void {
  const isGivenUp = ({ source, reason }: Ending) => source === "yarn" && reason.code === "stopped-by-earlier-attempt";
  const givenUp = Object.values(verdict.endings).find(isGivenUp);
  const { strength } = rootOf(verdict) ?? {};
  if (givenUp !== undefined && (strength === Strength.peerLost || strength === Strength.earlyExit)) {
    verdict.root = givenUp.task;
  }
}

/**
 * A program that ended well may have left others alone that still had work: their failures then follow from it. The first to end in a
 * generation is kept; undefined where others cannot fail because of it.
 */
export function noteEarlyExit(
  step: Step,
  task: TaskRecord,
  container: ContainerRecord,
  exit: ChildExit,
): Ending | undefined {
  const gang = gangOf(step, task);
  if (gang.firstExit?.generation === task.generation || !restartsWithGang(step, task) || !needsOthers(step, task)) {
    return undefined;
  }
  gang.firstExit = earlyExitEnding(step, task, container, exit);
  return gang.firstExit;
}

/** The early exit, if there was one, by which a task lost the connection to its peer. */
export function earlyExitBefore({ firstExit }: GangState, ending: Ending): Ending | undefined {
  const follows =
    firstExit !== undefined &&
    ending.strength === Strength.peerLost &&
    ending.generation === firstExit.generation &&
    ending.task !== firstExit.task &&
    ending.seenAtMs >= firstExit.seenAtMs;
  return follows ? firstExit : undefined;
}

/** With parameter servers each worker ends when its own share is done; an evaluator works alone; a chief's end is the job's. */
function needsOthers(step: Step, task: TaskRecord): boolean {
  const isOneOfMany = ({ tracking, name, chief }: RoleSpec) =>
    tracking === "tracked" && name !== EVALUATOR && chief !== "all";
  return (
    isOneOfMany(roleOf(step, task)) &&
    rolesOf(step, gangOf(step, task)).every(([role]) => roleOf(step, { role }).tracking !== "untracked")
  );
}

/** A program that ended well while others of its gang still needed it. */
function earlyExitEnding(step: Step, task: TaskRecord, container: ContainerRecord, exit: ChildExit): Ending {
  const ranForMs = Math.max(0, exit.atMs - task.startedAtMs);
  return {
    ...where(task, container),
    ...when(step, exit.atMs),
    source: "child",
    strength: Strength.earlyExit,
    class: "program",
    machine: false,
    reason: { code: "program-ended-early", task: task.id, host: container.host, ranForMs },
    exit: exitWords(exit),
    lines: linesOf(exit),
    remedy: { code: "end-together" },
  };
}

/**
 * An executor reports that it was cut off and had suspended its program for this time; the suspension is kept as long as others may fail
 * because of it.
 */
export function noteSuspension(step: Step, task: TaskRecord, container: ContainerRecord, suspendedMs: number): void {
  // Only tasks that start and end together are each other's peers.
  if (!restartsWithGang(step, task)) {
    return;
  }
  const { nowMs } = step;
  const { suspensions } = gangOf(step, task);
  const { id, generation } = task;
  const { host } = container;
  const others = suspensions.filter((other) => other.task !== id && mayExplain(step, other, nowMs));
  const fromMs = nowMs - suspendedMs;
  const suspension = { task: id, containerId: container.id, host, generation, fromMs, toMs: nowMs };
  suspensions.splice(0, suspensions.length, ...others, suspension);
  noteDurable(step);
}

/** The cut-off of a node by which a task of its generation lost the connection to its peer: that of the task's own node, if it was cut off. */
export function cutOffBefore(step: Step, { suspensions }: GangState, ending: Ending): Ending | undefined {
  if (ending.strength !== Strength.peerLost) {
    return undefined;
  }
  const possible = suspensions.filter(
    (suspension) => suspension.generation === ending.generation && mayExplain(step, suspension, ending.seenAtMs),
  );
  const suspension = possible.find(({ task }) => task === ending.task) ?? possible[0];
  return suspension && cutOffEnding(suspension, step.spec.timeouts.isolationMs);
}

/** Connections may break up to this time before the program is suspended; after it is resumed, its peers have as long to notice. */
function mayExplain({ spec }: Step, { fromMs, toMs }: Suspension, atMs: number): boolean {
  const { isolationMs } = spec.timeouts;
  return fromMs - isolationMs <= atMs && atMs <= toMs + isolationMs;
}

/**
 * A program that was suspended while its executor was cut off; `isolationMs`: how long after the cut-off that happens. Its node came back and
 * is not blamed.
 */
function cutOffEnding(suspension: Suspension, isolationMs: number): Ending {
  const { task, containerId, host, generation, fromMs, toMs } = suspension;
  return {
    ...{ task, containerId, host, generation },
    ...seen(fromMs - isolationMs),
    source: "core",
    strength: Strength.cutOff,
    class: "infrastructure",
    machine: false,
    reason: { code: "node-cut-off", task, host, suspendedMs: toMs - fromMs },
    exit: "",
    lines: [],
  };
}

/** The root of a failure as people are told of it, with the other endings that it was found among. */
export function causeOf(root: Ending, endings: Readonly<Record<string, Ending>> = {}): Cause {
  const others = Object.values(endings).filter((ending) => ending.task !== root.task && !isSameHang(ending, root));
  const followed = others.slice(0, MOST_CONSEQUENCES).map((ending) => consequenceOf(ending, root));
  return {
    class: root.class,
    generation: root.generation,
    reason: root.reason,
    summary: endingWords(root.reason),
    ...(root.named ?? { task: root.task, host: root.host, containerId: root.containerId, exit: root.exit }),
    atMs: root.atMs,
    lines: toldLines(root, others),
    ...(root.remedy === undefined ? {} : { remedy: remedyWords(root.remedy), fix: root.remedy }),
    consequences: followed.map(consequenceWords),
    followed,
  };
}

/**
 * What the root's program said last. One that ended with 0 says little about a failure, so the words of the first that failed after it follow;
 * they may name another cause.
 */
function toldLines(root: Ending, others: readonly Ending[]): readonly string[] {
  const failed = root.strength === Strength.earlyExit ? others.find(({ lines }) => lines.length > 0) : undefined;
  if (failed === undefined) return root.lines.slice(-MOST_LINES);
  const own = root.lines.slice(-MOST_LINES_OF_LEAVER);
  return [...own, `${failed.task} then said:`, ...failed.lines.slice(own.length + 1 - MOST_LINES)];
}

/** Tasks that overrun together hang for one reason, which is told once. */
function isSameHang(ending: Ending, root: Ending): boolean {
  return root.named !== undefined && (ending.named !== undefined || ending.task === root.named.task);
}

/** YARN's completion status of the root often arrives after the endings that followed from it. */
function consequenceOf(ending: Ending, root: Ending): Consequence {
  const laterMs = ending.seenAtMs - root.seenAtMs;
  return { reason: ending.reason, relation: relationOf(ending, root, laterMs), laterMs };
}

/**
 * One cause may make several tasks fail, each by itself; only what followed from another's end, or from our order, is a consequence. A lost
 * connection does not say whose it was: where nobody failed it may be that of a task which ended well, or of something outside the job, and a
 * task that ended before the root's program may have lost another peer.
 */
function relationOf({ strength }: Ending, root: Ending, laterMs: number): Relation {
  if (strength === Strength.peerLost) {
    const isSure = root.strength !== Strength.earlyExit && (laterMs >= 0 || root.source !== "child");
    return isSure ? "consequence" : "possible-consequence";
  }
  if (strength < Strength.peerLost) {
    return "consequence";
  }
  return strength < Strength.exit ? "not-counted" : "also-failed";
}
