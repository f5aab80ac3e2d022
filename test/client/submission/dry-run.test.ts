import { expect, test } from "@jest/globals";
import { verdict } from "../../../client/submission/dry-run.ts";

test("a rehearsal says that every check passed only where none warns", () => {
  const warning = { severity: "warning", message: "there is no queue mll", at: "job.xml:3" } as const;
  expect(verdict([])).toBe("every check passed");
  expect(verdict([warning])).toBe("no errors, 1 warning");
  expect(verdict([warning, warning])).toBe("no errors, 2 warnings");
});
