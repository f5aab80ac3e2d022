import { movedCursor } from "../../../src/job/feeds/cursor.ts";
import { holds, refusedAsLost, renew } from "./leases.ts";
import type { FeedAnswer, Mark, Refused } from "./records.ts";
import { placeOf } from "./split-moves.ts";
import { answer, type FeedStep, type Marking, refused } from "./step.ts";

/** The task waits until all have come; when the last one comes, all of them get the cursor. */
export function comeToMark(step: FeedStep, { id, task, label, among, begun }: Marking): FeedAnswer | undefined {
  const { state } = step;
  const { taken, readers } = state;
  // The cursor was given, and the answer was lost on its way.
  if (taken?.label === label && taken.lives[task] === readers[task]?.generation)
    return { type: "cursor", cursor: taken.cursor };
  const mark = state.mark ?? { label, among, there: {} };
  if (mark.label !== label || !mark.among.includes(task))
    return refused("invalid", `${task} comes to mark ${label} while ${mark.among.join(", ")} meet at ${mark.label}`);
  const lost = begun.find((lease) => !holds(state, task, lease));
  if (lost !== undefined) return refusedAsLost(state, task, lost);
  leaveMark(step, task);
  mark.there[task] = { id, used: Object.fromEntries(begun.map((lease) => [placeOf(state, lease), lease.records])) };
  state.mark = mark;
  passMark(step);
  return undefined;
}

/** Passes the mark when all have come that have not ended well. */
export function passMark(step: FeedStep): void {
  const { mark, readers } = step.state;
  if (mark?.among.every((one) => mark.there[one] !== undefined || readers[one]?.isDone)) pass(step, mark);
}

/** A task that has no splits and waits for some cannot come to a mark before those that wait for it there go on. */
export function endVainMark(step: FeedStep): void {
  const { mark, waiting, feed, hands } = step.state;
  const isIdle = (task: string) => hands[task] === undefined && waiting.some((one) => one.task === task);
  const idle = mark?.among.find((one) => mark.there[one] === undefined && isIdle(one));
  if (mark === undefined || idle === undefined) return;
  const why = `${idle} waits for more of ${feed.name} and comes to no mark ${mark.label}`;
  for (const task of Object.keys(mark.there))
    leaveMark(step, task, refused("invalid", `${why}: a cursor is of tasks that make the same number of steps`));
}

function pass(step: FeedStep, { label, there }: Mark): void {
  const { state, nowMs } = step;
  const { feed, epoch, used } = state;
  const partly: Record<string, number> = Object.assign(
    { ...state.partly },
    ...Object.values(there).map((one) => one.used),
  );
  const cursor = movedCursor({ plan: feed.plan, epoch, used, partly }, -placeOf(state, { epoch, position: 0 }));
  const lives = Object.fromEntries(Object.keys(there).map((task) => [task, state.readers[task]?.generation ?? 0]));
  state.taken = { label, cursor, lives };
  state.version += 1;
  delete state.mark;
  for (const [task, { id }] of Object.entries(there)) {
    renew(state, task, nowMs);
    answer(step, id, { type: "cursor", cursor });
  }
}

/** @param why the task comes again, or is gone */
export function leaveMark(step: FeedStep, task: string, why?: Refused): void {
  const { state, nowMs } = step;
  const { mark } = state;
  const before = mark?.there[task];
  if (mark === undefined || before === undefined) return;
  delete mark.there[task];
  if (Object.keys(mark.there).length === 0) delete state.mark;
  renew(state, task, nowMs);
  answer(step, before.id, why ?? refused("replaced", `${task} has come to mark ${mark.label} again, or is gone`));
}
