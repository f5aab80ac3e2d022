import { describe, expect, test } from "@jest/globals";
import { compareCoverage, coverageOfRooms } from "../../scripts/test/coverage-of-rooms.mjs";

describe("what the unit tests cover", () => {
  const file = (/** @type {number} */ covered, /** @type {number} */ total) => ({
    lines: { covered, total },
    branches: { covered: covered / 2, total },
  });
  const all = (/** @type {number} */ lines, /** @type {number} */ branches) =>
    Object.fromEntries(["am", "client", "executor", "src"].map((room) => [room, { lines, branches }]));

  test("is counted by room, over all its files", () => {
    const files = { "am/a.ts": file(10, 10), "am/core/b.ts": file(0, 20), "client/c.ts": file(2, 3) };
    const rest = { "executor/d.ts": file(1, 1), "src/e.ts": file(4, 4) };
    expect(coverageOfRooms({ ...files, ...rest })).toEqual({
      am: { lines: 33.3, branches: 16.6 },
      client: { lines: 66.6, branches: 33.3 },
      executor: { lines: 100, branches: 50 },
      src: { lines: 100, branches: 50 },
    });
  });

  test("is said of the rooms that were counted", () => {
    const measured = coverageOfRooms({ "client/c.ts": file(4, 4), "src/e.ts": file(4, 4) });
    expect(Object.keys(measured)).toEqual(["client", "src"]);
    expect(compareCoverage(measured, all(95.5, 49))).toMatchObject({ fell: false });
  });

  test("is printed", () => {
    expect(compareCoverage(all(95.5, 88), all(95.5, 88))).toEqual({
      fell: false,
      lines: [
        "am         lines  95.5 %   branches  88.0 %",
        "client     lines  95.5 %   branches  88.0 %",
        "executor   lines  95.5 %   branches  88.0 %",
        "src        lines  95.5 %   branches  88.0 %",
      ],
    });
  });

  test("may not become less, but for what random input makes of it", () => {
    expect(compareCoverage(all(95.3, 88), all(95.5, 88)).fell).toBe(false);
    const { lines, fell } = compareCoverage({ ...all(95.5, 88), am: { lines: 95.5, branches: 87 } }, all(95.5, 88));
    expect(fell).toBe(true);
    expect(lines.at(-1)).toMatch(/^✗ am: 87\.0 % of branches are covered, 88\.0 % were: .*--write$/);
  });

  test("that is more is invited to be written down", () => {
    const { lines, fell } = compareCoverage({ ...all(95.5, 88), src: { lines: 97, branches: 88 } }, all(95.5, 88));
    expect(fell).toBe(false);
    expect(lines.at(-1)).toBe("↑ src: 97.0 % of lines are covered, 95.5 % were: npm run coverage -- --write keeps it");
  });
});
