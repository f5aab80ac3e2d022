import { expect, test } from "@jest/globals";
import { sparkline } from "../../../client/output/sparkline.ts";

test.each([
  ["from nothing to the top", [0, 1, 2, 4], 4, "▁▃▅█"],
  ["from the least to the most without a top", [-5, 5, 0], undefined, "▁█▅"],
  ["blank where nothing was heard", [1, null, 1], 1, "█ █"],
  ["flat where all are alike", [3, 3], undefined, "▁▁"],
  ["at its ends beyond the top", [9, -9], 4, "█▁"],
  ["nothing of nothing", [], undefined, ""],
])("a row of bars is %s", (_what, values, top, bars) => {
  expect(sparkline(values, top)).toBe(bars);
});

test("has 32 bars at most, each the mean of its values", () => {
  const values = Array.from({ length: 64 }, (_, index) => (index < 32 ? 0 : index % 2));
  expect(sparkline(values, 1)).toBe("▁".repeat(16) + "▅".repeat(16));
});
