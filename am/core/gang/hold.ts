import { delayWords } from "../../../src/job/reasons/waits.ts";
import { countWords, durationWords, keyWords } from "../../../src/job/reasons/words.ts";
import { discard } from "../containers/containers.ts";
import { unmeetable } from "../containers/unmeetable.ts";
import { startsWithGang } from "../policies/restart.ts";
import { deadlineIn } from "../state/deadlines.ts";
import type { GangState } from "../state/gang.ts";
import type { TaskRecord } from "../state/records.ts";
import { containerOf, log, noteDurable, rolesOf, type Step, tasksOf } from "../state/step.ts";
import { BEFORE_START, moveTask } from "../state/task-moves.ts";
import { holdsEnough } from "./completeness.ts";

/** The first and the longest pause before a gang that gave its containers back asks again. */
const AskAgain = { initialMs: 10_000, maxMs: 300_000 } as const;

/** How often, roughly, a gang for which the cluster is too small checks whether that has changed. */
export const LOOK_EVERY_MS = AskAgain.maxMs;
/** How long a gang for which the cluster is too small keeps the containers it gets while it checks. */
const LOOK_MS = 10_000;

/**
 * A gang that wants more in all than the cluster has holds nothing, because no waiting would complete it. It asks again when nodes come or
 * change, and briefly from time to time: YARN tells an ApplicationMaster neither of a label given to a node nor of a size that an operator
 * changes.
 */
export function watchRoom(step: Step, gang: GangState): void {
  const { hold } = gang;
  const lack = lackOf(step, gang);
  if ((lack !== undefined) === hold.isVain) {
    return;
  }
  hold.isVain = lack !== undefined;
  hold.deadline = undefined;
  hold.askAgainAtMs = 0;
  noteDurable(step);
  step.changed = true;
  if (lack !== undefined) {
    const returned = heldBefore(step, gang);
    const pauseMs = pause(step, gang, returned);
    const given = returned.length === 0 ? "" : ` ${countWords(returned.length, "container")} will be given back.`;
    const words = `The job asks for no containers: ${lack}.${given} It asks again when nodes join or change, and in ${durationWords(pauseMs)}.`;
    log(step, "warn", "gang-in-vain", words, { containers: returned.length });
  }
}

/** Why the tasks that start together cannot all get containers, whatever else ends. */
function lackOf(step: Step, gang: GangState): string | undefined {
  if (!isGathering(step, gang)) {
    return undefined;
  }
  for (const [position, role] of rolesOf(step, gang)) {
    const never = holdsEnough(step, position, role) ? undefined : unmeetable(step, position);
    if (never?.ofGang && startsWithGang(step, { role: position })) {
      return delayWords(never.delay);
    }
  }
  return undefined;
}

/**
 * Two gangs that each hold half of what is left would wait for each other for ever. A gang stuck with some of its containers therefore
 * gives them back when no further one has come for a while, and asks again after a growing pause that differs from job to job.
 */
export function watchHold(step: Step, gang: GangState): void {
  if (!isStuck(step, gang) && !isLooking(step, gang)) {
    gang.hold.deadline = undefined;
  } else {
    gang.hold.deadline ??= deadlineIn(step, holdMs(step, gang));
  }
}

/**
 * When others took what the gang gave back, they had waited for it: the gang then keeps its containers for only a quarter of the time. The
 * same holds where an earlier gang of its job is stuck, too.
 */
function holdMs(step: Step, gang: GangState): number {
  const { isVain, isContended } = gang.hold;
  const longestMs = step.spec.timeouts.gangHoldMs;
  const leastMs = Math.min(LOOK_MS, longestMs);
  const isWanted = isContended || stuckIn(step).indexOf(gang) > 0;
  return isVain ? leastMs : isWanted ? Math.max(leastMs, longestMs / 4) : longestMs;
}

/**
 * A gang gives back what it holds, unless others of its job do that for it. Registered containers cost the most, and are kept for as long
 * again where there are others to give back.
 */
export function holdOver(step: Step, gang: GangState): void {
  const waitedMs = step.nowMs - (gang.hold.deadline?.sinceMs ?? step.nowMs);
  gang.hold.deadline = undefined;
  const stuck = stuckIn(step);
  if ((!stuck.includes(gang) && !isLooking(step, gang)) || othersGiveBack(step, stuck, gang)) {
    return;
  }
  const held = heldBefore(step, gang);
  const unregistered = held.filter(({ phase }) => phase !== "registered");
  const returned = unregistered.length > 0 && !gang.hold.isVain ? unregistered : held;
  if (stuck.length > 1) {
    letStuckGoFirst(step);
  }
  const pauseMs = pause(step, gang, returned);
  noteDurable(step);
  if (returned.length > 0) {
    logReturn(step, gang, { returned: returned.length, held: held.length, waitedMs, pauseMs });
  }
}

/**
 * Gangs of one job keep step, so all of them would give back and ask again together for ever. Instead, of those that are stuck only the
 * last ones give back, as many as the first one lacks; the others keep their containers and take what comes.
 */
function othersGiveBack(step: Step, stuck: readonly GangState[], gang: GangState): boolean {
  const [first] = stuck;
  if (first === undefined || !stuck.includes(gang)) {
    return false;
  }
  const lacking = gang === first ? 1 : holdingOf(step, first).waiting;
  const later = stuck.slice(stuck.indexOf(gang) + 1);
  return later.reduce((sum, one) => sum + holdingOf(step, one).holding, 0) >= lacking;
}

/** Gangs that have nothing yet ask again only after those that are stuck have taken what was given back. */
function letStuckGoFirst(step: Step): void {
  for (const gang of step.state.gangs) {
    if (isAsking(step, gang) && holdingOf(step, gang).holding === 0) {
      pause(step, gang, []);
    }
  }
}

/** Tasks that start together and hold containers, but have not started yet. */
function heldBefore(step: Step, gang: GangState): TaskRecord[] {
  return tasksOf(step, gang).filter(
    (task) => task.containerId !== "" && BEFORE_START.includes(task.phase) && startsWithGang(step, task),
  );
}

/** Gives containers back and asks for none for a while. @returns for how long */
function pause(step: Step, gang: GangState, returned: readonly TaskRecord[]): number {
  const returnedMiB = returned.reduce((sum, task) => sum + (containerOf(step, task)?.resource.memoryMiB ?? 0), 0);
  for (const task of returned) {
    giveBack(step, task);
  }
  const pauseMs = pauseBeforeAsking(step, gang);
  gang.hold.returns += returned.length > 0 ? 1 : 0;
  gang.hold.returnedMiB = returnedMiB;
  gang.hold.pausedAtMs = step.nowMs;
  gang.hold.askAgainAtMs = step.nowMs + pauseMs;
  return pauseMs;
}

function giveBack(step: Step, task: TaskRecord): void {
  const container = containerOf(step, task);
  if (container !== undefined) {
    discard(step, container, "the gang could not be completed");
  }
  moveTask(step, task, "container-given-back");
  task.host = "";
  task.port = 0;
}

function logReturn(
  step: Step,
  gang: GangState,
  it: { readonly returned: number; readonly held: number; readonly waitedMs: number; readonly pauseMs: number },
): void {
  const key = keyWords(step, "tony.container.hold-timeout");
  const what =
    it.returned === it.held
      ? countWords(it.held, "container")
      : `${it.returned} of its ${countWords(it.held, "container")}`;
  const who = step.spec.trials === undefined ? "The gang" : `Trial ${gang.position}`;
  const words = `${who} is not complete and got no further container for ${durationWords(it.waitedMs)} (${key}): ${what} will be given back and asked for again in ${durationWords(it.pauseMs)}.`;
  log(step, "warn", "gang-returned", words, { containers: it.returned });
}

export function askAgain(step: Step, gang: GangState): void {
  const { hold } = gang;
  hold.askAgainAtMs = 0;
  hold.isContended = (step.state.headroom?.memoryMiB ?? hold.returnedMiB) < hold.returnedMiB;
  step.changed = true;
}

/** Whether some of the tasks that start together have containers, while others needed for the start have none. */
function isStuck(step: Step, gang: GangState): boolean {
  const { waiting, holding } = isAsking(step, gang) ? holdingOf(step, gang) : { waiting: 0, holding: 0 };
  return waiting > 0 && holding > 0;
}

/** Gangs of the job that are stuck and that more containers can complete. */
function stuckIn(step: Step): GangState[] {
  return step.state.gangs.filter((gang) => !gang.hold.isVain && isStuck(step, gang));
}

/** Of the tasks that start together: how many have containers, and how many are needed and have none. */
function holdingOf(step: Step, gang: GangState): { readonly waiting: number; readonly holding: number } {
  let waiting = 0;
  let holding = 0;
  for (const [position, role] of rolesOf(step, gang)) {
    const { counts } = role;
    if (startsWithGang(step, { role: position })) {
      waiting += holdsEnough(step, position, role) ? 0 : counts.waiting;
      holding += counts.allocated + counts.launched + counts.preparing + counts.registered;
    }
  }
  return { waiting, holding };
}

/** Whether the gang asks for more than there is, to see whether it comes: others want what YARN would reserve for that. */
function isLooking(step: Step, gang: GangState): boolean {
  return gang.hold.isVain && isAsking(step, gang);
}

function isAsking(step: Step, gang: GangState): boolean {
  return gang.hold.askAgainAtMs === 0 && isGathering(step, gang);
}

function isGathering({ state }: Step, { phase }: GangState): boolean {
  return phase === "gathering" && state.phase === "under-way";
}

/** The pause doubles each time, and is scaled by a factor from 0.5 to 1.5 that depends on the job's id: two jobs must not keep step. */
function pauseBeforeAsking({ state }: Step, { hold: { returns, isVain } }: GangState): number {
  const baseMs = isVain ? LOOK_EVERY_MS : Math.min(AskAgain.maxMs, AskAgain.initialMs * 2 ** Math.min(returns, 10));
  return Math.round(baseMs * (0.5 + fraction(`${state.applicationId} ${returns}`)));
}

/** A number from 0 to 1 derived from the text alone (FNV-1a). */
function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return (hash >>> 8) / 0xffffff;
}
