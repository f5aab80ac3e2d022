import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { addNumber, areRuns, hasNumber, numbersFrom, removeNumber, sizeOfRuns } from "../../../src/job/feeds/runs.ts";

const changes = fc.array(fc.record({ adds: fc.boolean(), number: fc.nat(40) }), { maxLength: 200 });

describe("a set of runs", () => {
  test("holds what a set holds, whatever is added and removed", () => {
    fc.assert(
      fc.property(changes, (all) => {
        const runs: number[] = [];
        const set = new Set<number>();
        for (const { adds, number } of all) {
          (adds ? addNumber : removeNumber)(runs, number);
          if (adds) set.add(number);
          else set.delete(number);
        }
        expect(Array.from({ length: 42 }, (_, number) => number).filter((number) => hasNumber(runs, number))).toEqual(
          [...set].sort((left, right) => left - right),
        );
        expect(sizeOfRuns(runs)).toBe(set.size);
        const behind = numbersFrom(runs, 20);
        expect(sizeOfRuns(behind)).toBe([...set].filter((number) => number >= 20).length);
        expect(areRuns(behind, 41) && !hasNumber(behind, 19)).toBe(true);
        expect(areRuns(runs, 41)).toBe(true);
      }),
    );
  });

  test("is two numbers where it has no gap", () => {
    const runs: number[] = [];
    for (const number of [3, 1, 0, 2]) addNumber(runs, number);
    expect(runs).toEqual([0, 4]);
  });

  test.each([[[1]], [[2, 1]], [[1, 1]], [[-1, 2]], [[0.5, 1]], [[0, 11]]])(
    "is not what has the bounds %j, below 10",
    (numbers) => {
      expect(areRuns(numbers, 10)).toBe(false);
    },
  );
});
