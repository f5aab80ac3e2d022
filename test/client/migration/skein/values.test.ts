import { expect, test } from "@jest/globals";
import { memoryText, trueText, wholeNumberText } from "../../../../client/migration/skein/values.ts";

test.each([
  ["512", "512m"],
  ["1.5 GiB", "1536m"],
  ["2g", "1908m"],
  ["1 b", "1m"],
  ["1100 kb", "2m"],
  ["5 MB", "5m"],
  ["1 gb", "954m"],
  ["1 tb", "953675m"],
  ["1 pb", "953674317m"],
  ["2048 kib", "2m"],
  ["3 mib", "3m"],
  ["1 tib", "1048576m"],
  ["1 pib", "1073741824m"],
  ["1 apples", "1 apples"],
  ["much", "much"],
  ["", ""],
])("memory of %j is %j", (text, expected) => {
  expect(memoryText(text)).toBe(expected);
});

test.each([
  ["2_048", "2048"],
  ["4.0", "4"],
  ["1.5", "1.5"],
  ["few", "few"],
])("a whole number %j is %j", (text, expected) => {
  expect(wholeNumberText(text)).toBe(expected);
});

test("YAML says true in several words", () => {
  expect(["true", "Yes", "on"].map(trueText)).toEqual([true, true, true]);
  expect(["false", "no", "onward", "untrue", undefined].map(trueText)).toEqual(Array(5).fill(false));
});
