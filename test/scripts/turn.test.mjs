import { expect, test } from "@jest/globals";
import { hasTurn, inTurn, TURNS } from "../../scripts/turn.mjs";

test("of what is too much for every run, each day has its part", () => {
  const days = [0, 1, 2, 3].map((day) => inTurn(["a", "b", "c", "d", "e"], 2, day).join(""));
  expect(days).toEqual(["ab", "cd", "ea", "bc"]);
});

test("a suite that takes turns has one of three days", () => {
  const days = [0, 1, 2, 3, 4, 5].map((day) => [0, 1, 2].find((turn) => hasTurn(turn, day)));
  expect(days).toEqual([0, 1, 2, 0, 1, 2]);
  expect(TURNS).toBe(3);
});
