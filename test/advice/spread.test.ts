import { expect, test } from "@jest/globals";
import { meanOf, medianOf, spreadOf } from "../../src/advice/spread.ts";

test("the middle, that which 95 of 100 do not exceed, and the largest are found among numbers in any order", () => {
  expect(spreadOf([100, 9, 10])).toEqual({ p50: 10, p95: 100, most: 100 });
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(spreadOf(hundred)).toEqual({ p50: 50, p95: 95, most: 100 });
  expect([spreadOf([]), medianOf([7]), medianOf([1, 2])]).toEqual([undefined, 7, 1]);
  expect([meanOf([]), meanOf([1, 2])]).toEqual([0, 1.5]);
});
