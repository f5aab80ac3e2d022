import { expect, test } from "@jest/globals";
import { inTurn } from "../../scripts/turn.mjs";

test("of what is too much for every run, each day has its part", () => {
  const days = [0, 1, 2, 3].map((day) => inTurn(["a", "b", "c", "d", "e"], 2, day).join(""));
  expect(days).toEqual(["ab", "cd", "ea", "bc"]);
});
