import { type Cursor, cursorProblem, movedCursor } from "../../../src/job/feeds/cursor.ts";
import { paceFrom } from "./journaling.ts";
import { dismiss, takeBack } from "./leases.ts";
import { leaveMark, passMark } from "./marks.ts";
import type { FeedAnswer, FeedState, Origin } from "./records.ts";
import { horizonOf, placeOf } from "./split-moves.ts";
import { type FeedStep, type LifeEnd, type Opening, refused } from "./step.ts";
import { leaveSteps } from "./steps.ts";

export function open(step: FeedStep, { task, generation, gang, origin }: Opening): FeedAnswer {
  const { state } = step;
  const { name } = state.feed;
  if (gang < state.generation || (gang === state.generation && generation < (state.readers[task]?.generation ?? 0)))
    return refused("stale", `another life of ${task} reads ${name}`);
  const problem = typeof origin === "string" ? undefined : problemOf(state, origin);
  if (problem !== undefined) return refused("invalid", `${name} cannot go on from that cursor: ${problem}`);
  if (gang > state.generation) begin(step, gang, origin);
  else if (JSON.stringify(origin) !== JSON.stringify(state.origin)) {
    const elsewhere = `${task} opens ${name} at another place than the tasks before it`;
    return refused("invalid", `${elsewhere}: all of a generation begin at the same`);
  }
  if (state.readers[task]?.generation !== generation) join(step, task, generation);
  return { type: "opened", epoch: state.epoch };
}

/** Splits of tasks of earlier generations become free. */
function begin(step: FeedStep, gang: number, origin: Origin): void {
  const { state } = step;
  for (const task of Object.keys(state.readers)) leave(step, task);
  const { epoch, used, partly } = beginningOf(state, origin);
  Object.assign(state, {
    generation: gang,
    origin,
    epoch,
    used: [...used],
    partly: { ...partly },
    next: 0,
    handedOut: 0,
    readers: {},
  });
  delete state.taken;
  delete state.agreed;
  delete state.ahead;
  state.nearby.behind = 0;
}

function beginningOf({ epoch, used, feed }: FeedState, origin: Origin) {
  if (origin === "start") return { epoch: 0, used: [], partly: {} };
  if (origin === "used") return { epoch, used, partly: {} };
  return movedCursor(origin, placeOf({ feed }, { epoch: origin.epoch, position: 0 }));
}

function problemOf({ feed }: FeedState, cursor: Cursor): string | undefined {
  const { epoch, plan } = cursor;
  const isEarlier = feed.growth?.batches.some((batch) => batch.plan === plan);
  return cursorProblem(
    cursor,
    isEarlier ? { ...feed, plan } : feed,
    horizonOf({ feed, epoch }) - placeOf({ feed }, { epoch, position: 0 }),
  );
}

function join(step: FeedStep, task: string, generation: number): void {
  leave(step, task);
  const { state, nowMs } = step;
  state.readers[task] = { generation, lastUsed: 0 };
  state.paces[task] = paceFrom(nowMs);
  state.version += 1;
}

export function lifeEnded(step: FeedStep, task: string, generation: number, how: LifeEnd): void {
  const { state } = step;
  const reader = state.readers[task];
  if (reader?.generation !== generation || reader.isDone) return;
  leave(step, task, how === "failed" ? `${task} failed while it used it` : undefined);
  if (how === "succeeded") state.readers[task] = { ...reader, isDone: true };
  else delete state.readers[task];
  state.version += 1;
  passMark(step);
}

function leave(step: FeedStep, task: string, why?: string): void {
  dismiss(step, task);
  leaveMark(step, task);
  leaveSteps(step, task);
  takeBack(step, task, why);
}
