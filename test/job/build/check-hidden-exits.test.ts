import { describe, expect, test } from "@jest/globals";
import { minimalJob, saidAbout, specOf } from "../support.ts";

const piped = { ...minimalJob, "tony.containers.command": "python3 -m train | tee log" };

describe("a command that hides its program's failure", () => {
  test("is warned of where it stands, with the mend", () => {
    expect(saidAbout(piped)).toEqual([
      'job.xml:2: warning: tony.containers.command hides a program\'s failure, and the task would count as succeeded: it ends with the exit code of the last command of its pipe: begin it with "set -o pipefail;", or set tony.task.pipefail = true',
    ]);
  });

  test("does not where tony.task.pipefail is set: every command gets it", () => {
    expect(saidAbout({ ...piped, "tony.task.pipefail": "true" })).toEqual([]);
    expect(specOf({ ...piped, "tony.task.pipefail": "true" }).roles[0]?.command).toBe(
      "set -o pipefail\npython3 -m train | tee log",
    );
  });
});
