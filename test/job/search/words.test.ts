import { expect, test } from "@jest/globals";
import { stopWords, valueWords } from "../../../src/job/search/words.ts";

test("values that differ are told with as many digits as it takes", () => {
  const stop = { rule: "median", step: 3, trials: 5 } as const;
  expect(stopWords({ ...stop, best: 1.00012, median: 1.00009 })).toBe(
    "its best by step 3, 1.00012, is worse than 1.00009, the median of what 5 trials had on average by then",
  );
});

test("numbers have five digits, and a power of ten where they would fill a table", () => {
  const numbers = [4.422951317857958e25, 389_800_000_000_000, -1.5e12, 123_456_789, 0.123456, 7];
  const words = ["4.423e+25", "3.898e+14", "-1.5e+12", "123456789", "0.12346", "7"];
  expect(numbers.map(valueWords)).toEqual(words);
});
