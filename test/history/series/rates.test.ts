import { expect, test } from "@jest/globals";
import { ratesOf } from "../../../src/history/series/rates.ts";

test("steps in a second are counted between spans that have any, and not over a new start", () => {
  expect(ratesOf([0, 50, null, 150, 10, 60], 5_000)).toEqual([10, null, 10, null, 10]);
  expect(ratesOf([10, 10], 5_000)).toEqual([0]);
  expect(ratesOf([null, 50], 5_000)).toEqual([10]);
  expect(ratesOf([], 5_000)).toEqual([]);
});
