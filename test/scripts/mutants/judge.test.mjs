import { describe, expect, test } from "@jest/globals";
import { limitsFrom, whyNotCaught } from "../../../scripts/mutants/judge.mjs";

describe("the verdict on a planted bug", () => {
  const catcher = { unit: "am/core/" };
  const run = { passed: false, endless: false, failures: [], output: "what Jest said" };

  test("is caught by a test that fails, and by tests that never end", () => {
    expect(whyNotCaught({ ...run, failures: ["am/core/wake-up.test.ts › wakes"] }, catcher)).toBeUndefined();
    expect(whyNotCaught({ ...run, endless: true }, catcher)).toBeUndefined();
  });

  test("is survived when all tests pass, and not caught by a run that fails without a test", () => {
    expect(whyNotCaught({ ...run, passed: true }, catcher)).toContain("survived");
    expect(whyNotCaught(run, catcher)).toBe("no test failed, but their run did:\nwhat Jest said");
  });

  test("is none of a mutant that names what does not exist", () => {
    const failures = ["am/core/wake-up.test.ts › wakes\nReferenceError: state is not defined"];
    expect(whyNotCaught({ ...run, failures }, catcher)).toBe("is no program any more: state is not defined");
  });

  test("gives a test half a minute more than the longest takes without the bug, and all of them more than one such test", () => {
    expect(limitsFrom({ durationMs: 8_000, longestMs: 1_500.4 })).toEqual({ testTimeoutMs: 31_500, limitMs: 77_500 });
  });
});
