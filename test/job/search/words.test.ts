import { expect, test } from "@jest/globals";
import { stopWords } from "../../../src/job/search/words.ts";

test("values that differ are told with as many digits as it takes", () => {
  const stop = { rule: "median", step: 3, trials: 5 } as const;
  expect(stopWords({ ...stop, best: 1.00012, median: 1.00009 })).toBe(
    "its best by step 3, 1.00012, is worse than 1.00009, the median of what 5 trials had on average by then",
  );
});
