import { expect, test } from "@jest/globals";
import { surplusTrials } from "../../../src/job/search/kept-checkpoints.ts";
import type { Trial } from "../../../src/job/search/trials.ts";

const trial = (state: Trial["state"], value?: number): Trial => ({
  params: {},
  state,
  ...(value === undefined ? {} : { value }),
});

const TRIALS: readonly Trial[] = [
  trial("completed", 0.5),
  trial("stopped", 0.9),
  trial("running", 0.1),
  trial("failed", 0.2),
  trial("paused", 0.6),
  trial("completed", 0.5),
  trial("stopped", Number.NaN),
  trial("interrupted", 0.8),
];

const minimize = (keepCheckpoints: number) => ({ direction: "minimize", keepCheckpoints }) as const;

test("of trials that have ended for good the best ones keep their checkpoints, of equals the first", () => {
  expect(surplusTrials(minimize(1), TRIALS, false)).toEqual([1, 3, 5, 6]);
  expect(surplusTrials(minimize(2), TRIALS, false)).toEqual([1, 3, 6]);
  expect(surplusTrials({ direction: "maximize", keepCheckpoints: 1 }, TRIALS, false)).toEqual([0, 3, 5, 6]);
});

test("of those that pause they may be needed until none goes on any more; of those that run or were interrupted always", () => {
  expect(surplusTrials(minimize(0), TRIALS, false)).toEqual([0, 1, 3, 5, 6]);
  expect(surplusTrials(minimize(0), TRIALS, true)).toEqual([0, 1, 3, 4, 5, 6]);
  expect(surplusTrials(minimize(3), TRIALS, true)).toEqual([1, 3, 6]);
});

test("without a number all are kept", () => {
  expect(surplusTrials({ direction: "minimize" }, TRIALS, true)).toEqual([]);
});
