import { expect, test } from "@jest/globals";
import { formatClock, formatDate, formatDuration, formatMoment, formatTable } from "../../../client/output/format.ts";

test("a time is told to a tenth of a second while it is short, and never as less than none", () => {
  expect([-50, 0, 940, 59_900, 60_000, 61_900].map(formatDuration)).toEqual([
    "0.0 s",
    "0.0 s",
    "0.9 s",
    "59.9 s",
    "1 min",
    "1 min 1 s",
  ]);
});

test("moments are of this place, each part as wide as always", () => {
  const atMs = new Date(2026, 0, 3, 4, 5, 6, 7).getTime();
  expect(formatClock(atMs)).toBe("04:05:06");
  expect(formatDate(atMs)).toBe("2026-01-03 04:05");
  expect(formatMoment(atMs)).toBe("2026-01-03 04:05:06.007");
});

test("a table's columns are as wide as their widest cell, in whichever row, and rows may be shorter", () => {
  expect(formatTable([["a", "bb", "c"], ["aaa"], ["a", "b", "ccc"]])).toEqual([
    "a     bb   c",
    "aaa",
    "a     b    ccc",
  ]);
  expect(formatTable([])).toEqual([]);
});

test("a cell of a table has no tab, and shows each byte of a name that is no text", () => {
  expect(formatTable([["a\tb\udce9", "c"]])).toEqual(["a\\x09b\\xe9   c"]);
});
