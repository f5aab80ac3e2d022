import { describe, expect, test } from "@jest/globals";
import { failureSummary, phaseLines, secondsTable, totalOf, unsteadySummary } from "../../scripts/test/report.mjs";

const unit = {
  name: "unit",
  command: ["node", "jest.js"],
  limitSeconds: 600,
  environment: { TONY_TEST_CLUSTER: "test" },
};

describe("what npm test prints", () => {
  test("is a line for a phase that passed", () => {
    expect(phaseLines(unit, { passed: 2147, failed: 0, seconds: 99.6, output: "much" })).toBe(
      "✓ unit                      100 s of 600 s   2147 passed",
    );
  });

  test("has what a phase is there to tell", () => {
    const coverage = { name: "coverage", command: ["node"], limitSeconds: 30, tells: true };
    expect(phaseLines(coverage, { passed: 1, failed: 0, seconds: 1, output: "am lines 95.5 %\n" }).split("\n")).toEqual(
      ["✓ coverage                    1 s of 30 s   1 passed", "  | am lines 95.5 %"],
    );
  });

  test("of one that failed has the command that repeats it, and all that it said", () => {
    expect(phaseLines(unit, { passed: 1, failed: 2, seconds: 3, output: "one\ntwo\n" }).split("\n")).toEqual([
      "✗ unit                        3 s of 600 s   1 passed, 2 failed",
      "  | $ TONY_TEST_CLUSTER=test node jest.js",
      "  | one",
      "  | two",
    ]);
  });

  test("of one whose tests passed only when they ran again says so, with what they said first", () => {
    const result = { passed: 50, failed: 0, seconds: 3, output: "● a\n", unsteady: ["a.test.ts › a\nexpected 1"] };
    expect(phaseLines(unit, result).split("\n")).toEqual([
      "✓ unit                        3 s of 600 s   50 passed, 1 of them not at first",
      "  | ● a",
    ]);
    expect(unsteadySummary([{ phase: unit, result }])).toBe(
      "~ unit: passed when it ran again: a.test.ts › a\n  | expected 1",
    );
  });

  test("has a table of all phases' seconds in the order they began in", () => {
    const ended = [
      { phase: { name: "types" }, beganSeconds: 20, result: { failed: 0, seconds: 8 } },
      { phase: { name: "packages" }, beganSeconds: 0, result: { failed: 1, seconds: 20.2 } },
    ];
    expect(secondsTable(ended, 28).split("\n")).toEqual([
      "phase                     began     took",
      "packages                    0 s     20 s   failed",
      "types                      20 s      8 s",
      "all of it                           28 s",
    ]);
  });

  test("ends with what failed, in short: each failed test with the head of its words, of other phases the last lines", () => {
    const long = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const lines = failureSummary([
      { phase: { name: "types" }, result: { failed: 0, output: "" } },
      {
        phase: { name: "e2e" },
        result: {
          failed: 2,
          failures: ["a.test.ts › a › b\n\u001b[2mexpected\u001b[22m 1\n\nreceived 2", "c\nd"],
          output: "",
        },
      },
      { phase: { name: "lint" }, result: { failed: 1, output: long.join("\n") } },
    ]).split("\n");
    expect(lines.slice(0, 5)).toEqual([
      "✗ e2e: a.test.ts › a › b",
      "  | expected 1",
      "  | received 2",
      "✗ e2e: c",
      "  | d",
    ]);
    expect(lines[5]).toBe("✗ lint: line 24");
    expect(lines).toHaveLength(21);
  });

  test("counts what was proved: a preparation that failed is counted by the suites that it failed", () => {
    /** @param {string} name @param {number} passed @param {number} failed @param {{ needs?: string[], prepares?: boolean }} [more] */
    const ended = (name, passed, failed, more = {}) => ({
      phase: { name, needs: [], ...more },
      result: { passed, failed },
    });
    const horovod = ended("horovod", 0, 1, { prepares: true });
    expect(
      totalOf([
        ended("build", 1, 0, { prepares: true }),
        ended("unit", 40, 2, { needs: ["build"] }),
        horovod,
        ended("e2e-horovod", 0, 1, { needs: ["build", "horovod"] }),
      ]),
    ).toEqual({ passed: 40, failed: 3 });
    expect(totalOf([horovod])).toEqual({ passed: 0, failed: 1 });
  });

  test("ends with nothing more where nothing failed", () => {
    expect(failureSummary([{ phase: { name: "types" }, result: { failed: 0, output: "much" } }])).toBe("");
  });
});
