import { describe, expect, test } from "@jest/globals";
import { minimalJob, saidAbout, specOf } from "../support.ts";

const piped = { ...minimalJob, "tony.containers.command": "python3 -m train | tee log" };

describe("a command that hides its program's failure", () => {
  test("is warned of where it stands, with the mend", () => {
    expect(saidAbout(piped)).toEqual([
      'job.xml:2: warning: tony.containers.command hides a program\'s failure, and the task would count as succeeded: it ends with the exit code of the last command of its pipe: begin it with "set -o pipefail;", or set tony.task.pipefail = true',
    ]);
  });

  test.each([
    ["sh -c 'python3 train.py | tee log'", "a pipe in sh -c: write bash -o pipefail -c in its place"],
    [
      "set -o pipefail; bash -c 'python3 train.py | tee log'",
      "a pipe in bash -c: write bash -o pipefail -c in its place",
    ],
    ["set -e; sh -c 'python3 train.py; echo done'", "in sh -c after a program that failed: write sh -ec in its place"],
    [
      "sh -c 'for i in 1 2; do python3 train.py; done'",
      "in a loop of sh -c, whose last run counts: write sh -ec in its place",
    ],
  ])("%s is told a mend that reaches into it, and that is the last word", (command, words) => {
    const key = "tony.containers.command";
    const said = (text: string) => saidAbout({ ...minimalJob, [key]: text, "tony.task.pipefail": "true" }).join();
    expect(said(command)).toContain(words);
    const [, mend = ""] = /write (.*) in its place/.exec(words) ?? [];
    expect(said(command.replace(/(?:ba)?sh -c/, mend))).not.toContain("hides");
  });

  test("does not where tony.task.pipefail is set: every command gets it", () => {
    expect(saidAbout({ ...piped, "tony.task.pipefail": "true" })).toEqual([]);
    expect(specOf({ ...piped, "tony.task.pipefail": "true" }).roles[0]?.command).toBe(
      "set -o pipefail\npython3 -m train | tee log",
    );
  });
});
