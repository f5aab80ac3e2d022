import { expect, test } from "@jest/globals";
import { verdict } from "../../../client/submission/dry-run.ts";

test("a rehearsal says that every check passed only where none warns", () => {
  const warning = { severity: "warning", message: "there is no queue mll", at: "job.xml:3" } as const;
  expect(verdict([])).toBe("every check passed");
  expect(verdict([warning])).toBe("no check refuses the job, but 1 warning says why it may fail all the same");
  expect(verdict([warning, warning])).toBe("no check refuses the job, but 2 warnings say why it may fail all the same");
});
