import { describe, expect, test } from "@jest/globals";
import { type Cursor, cursorProblem, cursorShape, movedCursor } from "../../../src/job/feeds/cursor.ts";

const feed = { plan: "a1", epochs: 2 };
const splits = 10;
const cursor: Cursor = { plan: "a1", epoch: 1, used: [0, 3, 5, 6], partly: { 3: 17 } };

describe("a cursor", () => {
  test("survives JSON", () => {
    expect(cursorShape(JSON.parse(JSON.stringify(cursor)), "cursor")).toEqual(cursor);
    expect(() => cursorShape({ ...cursor, epoch: -1 }, "cursor")).toThrow("cursor.epoch must be a whole number");
  });

  test("is gone on from where the feed is still the one it is of", () => {
    expect(cursorProblem(cursor, feed, splits)).toBeUndefined();
    expect(cursorProblem({ ...cursor, epoch: 2, used: [], partly: {} }, feed, splits)).toBeUndefined();
    expect(cursorProblem({ ...cursor, epoch: 99 }, { plan: "a1" }, splits)).toBeUndefined();
  });

  test("counts its places from elsewhere, and back", () => {
    const moved = movedCursor(cursor, 10);
    expect(moved).toEqual({ ...cursor, used: [10, 13, 15, 16], partly: { 13: 17 } });
    expect(movedCursor(moved, -10)).toEqual(cursor);
  });

  test.each([
    [
      { plan: "b2" },
      "it is from other input or another order: start without it, or give the job the same input and order",
    ],
    [{ epoch: 3 }, "it is of epoch 3, counted from 0, of 2"],
    [{ plan: "a1", epoch: 2 ** 24 + 1, endless: true }, "it is of epoch 16777217, which no feed comes to"],
    [{ used: [0, 11] }, "what it says is used is not a list of rising runs of the feed's splits"],
    [{ used: [3, 1] }, "what it says is used is not a list of rising runs of the feed's splits"],
    [{ partly: { 10: 1 } }, "10 is not a split that is partly used"],
    [{ partly: { 1: 1 } }, "1 is not a split that is partly used"],
    [{ partly: { "1e0": 1 } }, "1e0 is not a split that is partly used"],
  ])("that says %j is refused", ({ endless, ...said }: Partial<Cursor> & { readonly endless?: boolean }, words) => {
    expect(cursorProblem({ ...cursor, ...said }, endless ? { plan: "a1" } : feed, splits)).toBe(words);
  });
});
