import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { Leavings } from "../../src/api/leavings.ts";

let collected: string[];
let nowMs: number;
/** How long a collection of all takes. */
let takesMs: number;
let leavings: Leavings;

beforeEach(() => {
  jest.useFakeTimers();
  [collected, nowMs, takesMs] = [[], 0, 15];
  const collect = (type: string) => {
    collected.push(type);
    nowMs += takesMs;
  };
  leavings = new Leavings(collect, { nowMs: () => nowMs });
});
afterEach(() => {
  jest.useRealTimers();
});

function add(times: number): void {
  for (let ends = 0; ends < times; ends += 1) leavings.add();
}

test("of few nothing is collected", () => {
  add(31);
  jest.advanceTimersByTime(60_000);
  expect(collected).toEqual([]);
});

test("of many what is new is collected at once, and all a second later, once", () => {
  add(32);
  expect(collected).toEqual(["minor"]);
  add(32);
  jest.advanceTimersByTime(999);
  expect(collected).toEqual(["minor", "minor"]);
  jest.advanceTimersByTime(1);
  expect(collected).toEqual(["minor", "minor", "major"]);
  jest.advanceTimersByTime(60_000);
  expect(collected).toHaveLength(3);
});

test("where it takes long to collect all, that is done less often: for a twentieth of the time at most", () => {
  takesMs = 200;
  add(32);
  jest.advanceTimersByTime(1_000);
  add(32);
  jest.advanceTimersByTime(3_999);
  expect(collected).toEqual(["minor", "major", "minor"]);
  jest.advanceTimersByTime(1);
  expect(collected).toEqual(["minor", "major", "minor", "major"]);
});
