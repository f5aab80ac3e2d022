import { expect, test } from "@jest/globals";
import { gridOf, gridSize } from "../../../src/job/search/grid.ts";
import { searchOf } from "./support.ts";

test.each([
  [{}, 1],
  [{ units: "int 1 9", lr: "float 0 1 step 0.25" }, 45],
  [{ opt: "choice adam sgd rmsprop", momentum: "float 0 0.9 step 0.1 when opt=sgd,rmsprop" }, 21],
  [{ opt: "choice a b", kind: "choice x y when opt=a", depth: "int 1 3 when kind=y", units: "int 1 2" }, 10],
])("a grid's places are counted without going through them: %j", (space, places) => {
  const { space: parsed } = searchOf(space);
  expect(gridSize(parsed)).toBe(places);
  expect([...gridOf(parsed)]).toHaveLength(places);
});

test("a grid that is far too large to go through is counted, and one that has no end", () => {
  expect(gridSize(searchOf({ a: "int 1 1000000", b: "int 1 1000000" }).space)).toBe(1e12);
  expect(gridSize(searchOf({ a: "float 0 1", opt: "choice x y", b: "int 1 2 when opt=x" }).space)).toBe(Infinity);
});
