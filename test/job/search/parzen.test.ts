import { describe, expect, test } from "@jest/globals";
import {
  ageWeights,
  densityOf,
  kernelsOf,
  logDensityAt,
  logMass,
  normalBetween,
} from "../../../src/job/search/parzen.ts";
import { randomNumbers } from "../../../src/job/search/random-numbers.ts";
import type { Parameters } from "../../../src/job/search/space.ts";
import { searchOf } from "./support.ts";

describe("kernels on [-1, 1], as those of Optuna 5", () => {
  test.each<[number[], number[]]>([
    [[], []],
    [[0.4], [1.4]],
    [[-0.4], [1.4]],
    [
      [-0.3, 0.3],
      [0.6, 0.6],
    ],
    [
      [-0.4, 0.4, 0.41, 0.42],
      [0.8, 0.8, 1 / 3, 1 / 3],
    ],
  ])("around %j are as broad as %j, with the broad one behind", (numbers, expected) => {
    const kernels = kernelsOf(numbers, -1, 1);
    expect(kernels.map(({ mean }) => mean)).toEqual([...numbers, 0]);
    for (const [index, deviation] of [...expected, 2].entries()) {
      expect(kernels[index]?.deviation).toBeCloseTo(deviation, 12);
    }
  });
});

test("older trials count less, as in Optuna 5", () => {
  expect(ageWeights(3)).toEqual([1, 1, 1]);
  expect(ageWeights(26)).toEqual([1 / 26, ...Array.from({ length: 25 }, () => 1)]);
  expect(
    ageWeights(28)
      .slice(0, 4)
      .map((weight) => Number(weight.toFixed(8))),
  ).toEqual([0.03571429, 0.51785714, 1, 1]);
});

describe("the density around three trials is that of Optuna 5", () => {
  const { space } = searchOf({
    f: "float -1 1",
    l: "float 1e-4 1 log",
    i: "int 1 8",
    s: "float 0 1 step 0.25",
    p: "int 1 1000 log",
    c: "choice a b c",
  });
  const trials: Parameters[] = [
    { f: -0.4, l: 1e-3, i: 1, s: 0, p: 1, c: "a" },
    { f: 0.4, l: 0.5, i: 8, s: 0.25, p: 30, c: "c" },
    { f: 0.9, l: 1e-2, i: 3, s: 1, p: 900, c: "c" },
  ];
  const places: Parameters[] = [
    { f: 0, l: 1e-4, i: 4, s: 0.5, p: 1, c: "b" },
    { f: 0.95, l: 0.01, i: 8, s: 0.25, p: 32, c: "c" },
    { f: -1, l: 1, i: 1, s: 0, p: 1000, c: "a" },
  ];

  // optuna 5.0.0: _ParzenEstimator(observations, space, parameters of TPESampler()).log_pdf(places)
  test.each([
    ["f", [-0.6962552210916708, -0.4554257518046966, -1.2719862714457153]],
    ["l", [-2.560331167262559, -2.112840858702823, -2.4365746015645895]],
    ["i", [-2.0747283107218415, -2.3682801385932906, -1.8266551739978054]],
    ["s", [-1.7034631882928128, -1.4404012588317872, -1.3134108775833595]],
    ["p", [-2.0776682550820857, -5.419911342575237, -9.035151600173064]],
    ["c", [-1.6582280766035324, -0.7419373447293772, -1.0986122886681098]],
  ])("of %s alone", (wanted, expected) => {
    const density = densityOf(
      space.filter(({ name }) => name === wanted),
      trials,
    );
    const found = places.map((place) => logDensityAt(density, place));
    for (const [index, value] of expected.entries()) expect(found[index]).toBeCloseTo(value, 6);
  });

  test("of all together", () => {
    const density = densityOf(space, trials);
    const found = places.map((place) => logDensityAt(density, place));
    const expected = [-10.65346286106986, -12.282222155621918, -18.175285610641097];
    for (const [index, value] of expected.entries()) expect(found[index]).toBeCloseTo(value, 6);
  });
});

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
