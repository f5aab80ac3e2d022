import { renew } from "./leases.ts";
import type { Feed, FeedAnswer, StepsAhead } from "./records.ts";
import { firstFree, moveSplit } from "./split-moves.ts";
import { answer, type FeedStep, refused, type Stepping } from "./step.ts";

type Reported = StepsAhead["there"][string];

/**
 * All tasks make the same number of steps in an epoch: each reports how many steps it has rows for, and learns how many all of them may make.
 * It waits until these are more than it knows of. A number that one task was told is told to every task that asks, even by a later attempt:
 * the others are already making these steps.
 */
export function comeToSteps(step: FeedStep, { id, task, epoch, ...said }: Stepping): FeedAnswer | undefined {
  const { state } = step;
  const { agreed, feed } = state;
  if (feed.uneven === undefined) return refused("invalid", `tony.feed.${feed.name}.uneven is not set`);
  if (epoch === feed.epochs) return { type: "agreed", steps: 0, last: true };
  if (epoch === agreed?.epoch && (agreed.last || agreed.steps > said.known)) {
    const { steps, last } = agreed;
    return { type: "agreed", steps, last };
  }
  if (epoch !== state.epoch)
    return refused("invalid", `${task} counts steps of epoch ${epoch}, and epoch ${state.epoch} is read`);
  leaveSteps(step, task);
  state.ahead ??= { among: said.among, there: {} };
  state.ahead.there[task] = { id, ready: said.ready, isDry: said.dry };
  return undefined;
}

/** It asks again, or is gone. */
export function leaveSteps(step: FeedStep, task: string): void {
  const { state, nowMs } = step;
  const { id } = state.ahead?.there[task] ?? {};
  delete state.ahead?.there[task];
  if (id === undefined) return;
  renew(state, task, nowMs);
  answer(step, id, refused("replaced", `${task} has asked again, or is gone`));
}

/** Agrees as soon as each task has reported how many steps it has rows for; a task that has ended well makes none. */
export function agreeOnSteps(step: FeedStep): void {
  const { state, nowMs } = step;
  const { ahead, feed, readers, agreed, epoch } = state;
  if (!ahead?.among.every((one) => ahead.there[one] !== undefined || readers[one]?.isDone)) return;
  const { steps, last } = agreement(Object.values(ahead.there), feed.uneven);
  if (!last && agreed?.epoch === epoch && steps <= agreed.steps) return;
  state.agreed = { epoch, steps, last };
  state.version += 1;
  if (last) {
    delete state.ahead;
    if (feed.uneven === "drop") leaveOutFree(step);
  }
  for (const [task, reported] of Object.entries(ahead.there)) {
    if (reported.id === undefined) continue;
    answer(step, reported.id, { type: "agreed", steps, last });
    delete reported.id;
    renew(state, task, nowMs);
  }
}

/** A task that gets no more rows makes the steps that it has rows for; with `pad` the others decide, as long as there are any. */
function agreement(
  all: readonly Reported[],
  uneven: Feed["uneven"],
): { readonly steps: number; readonly last: boolean } {
  const least = (some: readonly Reported[]) => Math.min(...some.map(({ ready }) => ready));
  const steps = least(all);
  if (uneven !== "pad") return { steps, last: all.some(({ ready, isDry }) => isDry && ready === steps) };
  const others = all.filter(({ isDry }) => !isDry);
  if (others.length > 0) return { steps: least(others), last: false };
  return { steps: Math.max(...all.map(({ ready }) => ready)), last: true };
}

/** A split that failed may have come back after all tasks had stopped taking any: no step is made with it. */
function leaveOutFree(step: FeedStep): void {
  for (let free = firstFree(step); free !== undefined; free = firstFree(step)) moveSplit(step, free, "all-used");
}
