import { describe, expect, test } from "@jest/globals";
import { readTrialLine, trialOfLine } from "../../../src/job/search/trial-line.ts";
import { bestTrial, compareValues } from "../../../src/job/search/trials.ts";

describe("values of the metric", () => {
  const values = [Number.NaN, 2, undefined, Number.POSITIVE_INFINITY, 1, Number.NEGATIVE_INFINITY];

  test("are better by the direction; NaN and none are the worst in both", () => {
    const sorted = (direction: "minimize" | "maximize") =>
      values
        .map((value) => [value])
        .sort(([a], [b]) => compareValues(direction, a, b))
        .flat();
    expect(sorted("minimize")).toEqual([-Infinity, 1, 2, Infinity, NaN, undefined]);
    expect(sorted("maximize")).toEqual([Infinity, 2, 1, -Infinity, NaN, undefined]);
  });
});

test("of equals the trial with the smaller number is the best", () => {
  const trials = [3, 1, 1, 2].map((value) => ({ state: "completed" as const, value }));
  expect(bestTrial("minimize", trials)).toBe(trials[1]);
  expect(bestTrial("maximize", [...trials, trials[0] ?? { state: "failed" }])).toBe(trials[0]);
});

describe("a line of a trial", () => {
  test.each([
    ['{"params": {"lr": 0.5}, "value": 0.9}', { params: { lr: 0.5 }, state: "completed", value: 0.9 }],
    ['{"params": {"lr": 0.5}}', { params: { lr: 0.5 }, state: "running" }],
    ['{"params": {"lr": 0.5}, "value": null}', { params: { lr: 0.5 }, state: "failed" }],
    ['{"params": {"lr": 0.5}, "value": NaN}', { params: { lr: 0.5 }, state: "failed" }],
    [
      '{"params": {"lr": 0.5}, "state": "stopped", "value": 1, "step": 9, "number": 3}',
      { params: { lr: 0.5 }, state: "stopped", value: 1, step: 9 },
    ],
    [
      '{"params": {}, "reports": [[1, 0.5], [2, NaN], [2, 0.1], [4, -Infinity]]}',
      {
        params: {},
        state: "running",
        value: -Infinity,
        step: 4,
        reports: [
          { step: 1, value: 0.5 },
          { step: 2, value: Number.NaN },
          { step: 4, value: -Infinity },
        ],
      },
    ],
    [
      '{"params": {"optimizer": "x: NaN"}, "value": 1}',
      { params: { optimizer: "x: NaN" }, state: "completed", value: 1 },
    ],
  ])("%s", (line, trial) => {
    expect(trialOfLine(readTrialLine(line))).toEqual(trial);
  });

  test.each([
    ['{"params": {"lr": true}}', "params.lr must be a number or text"],
    ['{"value": 1}', "params must be an object"],
    [
      '{"params": {}, "state": "done"}',
      "state must be one of completed, stopped, failed, paused, running, interrupted",
    ],
    ['{"params": {}, "value": "good"}', "value must be a number or null"],
    ['{"params": {}, "reports": [[null, 1]]}', "reports must be a list of [step, value]"],
    ["lr=0.5", "JSON"],
  ])("%s is refused: %s", (line, said) => {
    expect(() => readTrialLine(line)).toThrow(said);
  });
});
