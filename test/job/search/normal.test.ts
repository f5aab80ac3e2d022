import { describe, expect, test } from "@jest/globals";
import { logMass, normalBetween } from "../../../src/job/search/normal.ts";
import { randomNumbers } from "../../../src/job/search/random-numbers.ts";

describe("the mass of a normal distribution between two numbers", () => {
  // By erfc of the C library.
  test.each([
    [-1, 1, Math.log(0.682_689_492_137_085_9)],
    [0, 3, Math.log(0.498_650_101_968_369_9)],
    [-0.5, 0.5005, Math.log(0.383_100_981_567_5)],
    [4, 5, Math.log(3.138_459_053e-5)],
    [-5, -4, Math.log(3.138_459_053e-5)],
    [8, 9, Math.log(6.219_831_986e-16)],
    [1, 1.0005, Math.log(0.000_120_955_120_9)],
  ])("%d to %d", (from, to, expected) => {
    expect(logMass(from, to)).toBeCloseTo(expected, 5);
  });

  test("is the same on both sides, and nothing where no number can tell it", () => {
    expect(logMass(2, 7)).toBeCloseTo(logMass(-7, -2), 10);
    expect(logMass(50, 60)).toBe(Number.NEGATIVE_INFINITY);
  });
});

test("numbers between bounds are within them, and lie as a normal distribution does", () => {
  const random = randomNumbers(1, "normal");
  const numbers = Array.from({ length: 4000 }, () =>
    normalBetween({ mean: 0, deviation: 1, low: -1, high: 4 }, random),
  );
  expect(Math.min(...numbers)).toBeGreaterThanOrEqual(-1);
  expect(numbers.filter((value) => value < 0).length / 4000).toBeCloseTo(0.341 / 0.841, 1);
});
