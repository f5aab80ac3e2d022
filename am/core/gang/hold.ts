import { countWords, durationWords, keyWords } from "../../../src/job/reasons/words.ts";
import { discard } from "../containers/containers.ts";
import { startsWithGang } from "../policies/start.ts";
import { deadlineIn } from "../state/deadlines.ts";
import type { GangState } from "../state/gang.ts";
import type { TaskRecord } from "../state/records.ts";
import { containerOf, log, rolesOf, type Step, tasksOf } from "../state/step.ts";
import { BEFORE_START, moveTask } from "../state/transitions.ts";
import { holdsEnough } from "./rest.ts";

/** Pauses before a gang that gave its containers back asks again: the first, and the longest. */
const AskAgain = { initialMs: 10_000, maxMs: 300_000 } as const;

/**
 * Two gangs that each hold half of what is left wait for each other for ever. A gang that is stuck in part therefore gives back what it
 * holds when no further container has come for a while, and asks again after a pause that differs from job to job and grows.
 */
export function watchHold(step: Step, gang: GangState): void {
  if (!isStuck(step, gang)) {
    gang.hold.deadline = undefined;
  } else {
    gang.hold.deadline ??= deadlineIn(step, step.spec.timeouts.gangHoldMs);
  }
}

/** What is registered cost the most, and is kept for as long again where there is something else to give back. */
export function holdOver(step: Step, gang: GangState): void {
  gang.hold.deadline = undefined;
  if (!isStuck(step, gang)) {
    return;
  }
  const held = tasksOf(step, gang).filter(
    (task) => task.containerId !== "" && BEFORE_START.includes(task.phase) && startsWithGang(step, task),
  );
  const unregistered = held.filter(({ phase }) => phase !== "registered");
  const returned = unregistered.length > 0 ? unregistered : held;
  for (const task of returned) {
    giveBack(step, task);
  }
  const pauseMs = pauseBeforeAsking(step, gang);
  gang.hold.returns++;
  gang.hold.askAgainAtMs = step.nowMs + pauseMs;
  step.state.journal.dirty = true;
  logReturn(step, returned.length, held.length, pauseMs);
}

function giveBack(step: Step, task: TaskRecord): void {
  const container = containerOf(step, task);
  if (container !== undefined) {
    discard(step, container, "the gang could not be completed");
  }
  moveTask(step, task, BEFORE_START, "waiting");
  task.host = "";
  task.port = 0;
}

function logReturn(step: Step, returned: number, held: number, pauseMs: number): void {
  const waited = durationWords(step.spec.timeouts.gangHoldMs);
  const key = keyWords(step, "tony.container.hold-timeout");
  const what =
    returned === held ? countWords(held, "container") : `${returned} of its ${countWords(held, "container")}`;
  const words = `The gang is not complete and got no further container for ${waited} (${key}): ${what} will be given back and asked for again in ${durationWords(pauseMs)}.`;
  log(step, "warn", "gang-returned", words, { containers: returned });
}

export function askAgain(step: Step, gang: GangState): void {
  gang.hold.askAgainAtMs = 0;
  step.changed = true;
}

/** Some of those that start together have containers, and some that are needed for that have none. */
function isStuck(step: Step, gang: GangState): boolean {
  const isGathering = gang.phase === "gathering" && !gang.started && step.state.phase === "under-way";
  if (!isGathering || gang.hold.askAgainAtMs !== 0) {
    return false;
  }
  let waiting = 0;
  let holding = 0;
  for (const [position, role] of rolesOf(step, gang)) {
    const { counts } = role;
    if (startsWithGang(step, { role: position })) {
      waiting += holdsEnough(step, position, role) ? 0 : counts.waiting;
      holding += counts.allocated + counts.launched + counts.preparing + counts.registered;
    }
  }
  return waiting > 0 && holding > 0;
}

/** Twice as long each time, and between half and one and a half times that by the job's id: two jobs must not keep step. */
function pauseBeforeAsking({ state }: Step, { hold: { returns } }: GangState): number {
  const baseMs = Math.min(AskAgain.maxMs, AskAgain.initialMs * 2 ** Math.min(returns, 10));
  return Math.round(baseMs * (0.5 + fraction(`${state.applicationId} ${returns}`)));
}

/** A number from 0 to 1 that follows from the text alone (FNV-1a). */
function fraction(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return (hash >>> 8) / 0xffffff;
}
