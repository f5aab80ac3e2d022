import { expect, test } from "@jest/globals";
import { fits } from "../../src/job/fits.ts";

const limit = { memoryMiB: 1024, vcores: 2, others: { "yarn.io/gpu": 1 } };

test.each([
  ["all that there is", {}, true],
  ["more memory", { memoryMiB: 1025 }, false],
  ["more cores", { vcores: 3 }, false],
  ["more of another type", { others: { "yarn.io/gpu": 2 } }, false],
  ["some of a type that there is none of", { others: { "yarn.io/fpga": 1 } }, false],
  ["none of a type that there is none of", { others: { "yarn.io/fpga": 0 } }, true],
])("%s", (_, change, expected) => {
  expect(fits({ ...limit, ...change }, limit)).toBe(expected);
});
