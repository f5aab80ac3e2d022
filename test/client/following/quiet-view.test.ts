import { describe, expect, test } from "@jest/globals";
import { QuietView } from "../../../client/following/quiet-view.ts";
import { LogPrinter } from "../../../client/logs/log-printer.ts";
import { ExitCode } from "../../../src/errors.ts";
import type { LineFilter } from "../../../src/logs/ordered-output.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded } from "../job-status.ts";
import { recordedContext } from "../support.ts";

function scene(filter?: LineFilter, terminal = false) {
  const { output, out, err, clock } = recordedContext({ terminal });
  const ends: string[] = [];
  const printer = new LogPrinter(output);
  const more = filter === undefined ? {} : { filter };
  const view = new QuietView(output, { selection: { kind: "all" }, printer, ...more, end: (line) => ends.push(line) });
  return { view, out, err, clock, ends };
}
const report = aReport({ state: "FINISHED" });
const outcome = { ...allSucceeded, endedAtMs: 1 };

describe("the logs of a job that are followed", () => {
  test("have each task before its lines where there are several, and the lines alone that are asked for", () => {
    const { view, out } = scene({ stream: "stdout" });
    view.taskLine("worker:0", { stream: "stdout", line: "early" });
    view.show(aJobStatus());
    view.taskLine("worker:0", { stream: "stdout", line: "a" });
    view.taskLine("worker:1", { stream: "stderr", line: "b" });
    view.show(aJobStatus({ tasks: aJobStatus().tasks.slice(0, 2) }));
    view.taskLine("worker:1", { stream: "stdout", line: "c" });
    view.show(aJobStatus({ tasks: aJobStatus().tasks.slice(0, 1) }));
    view.taskLine("worker:0", { stream: "stdout", line: "d" });
    expect(out.text).toBe("early\nworker:0 | a\nworker:1 | c\nd\n");
  });

  test("end with how the job ended, and where more of that is told", () => {
    const { view, ends } = scene();
    view.ended({ report, exitCode: ExitCode.succeeded, outcome: { ...outcome, summary: "all is well" } });
    const failed = { ...outcome, result: "failed", summary: "worker:0 exited 1" } as const;
    view.ended({ report, exitCode: ExitCode.jobFailed, outcome: failed });
    view.show(aJobStatus());
    view.ended({ report, exitCode: ExitCode.succeeded, outcome: { ...outcome, summary: "all is well" } });
    expect(ends).toEqual([
      `${report.id} SUCCEEDED: all is well`,
      `${report.id} FAILED: worker:0 exited 1\n  tony-ts status ${report.id} says more`,
      `${report.id} SUCCEEDED: all is well · 0 restarts · 0 GiB·h`,
    ]);
  });

  test("have what is waited for beside them, until the job is heard or ends", () => {
    for (const over of ["show", "ended", "left"] as const) {
      const { view, out, err } = scene({}, true);
      view.waiting(aReport(), "queue ml has no room");
      expect(out.text + err.text).toContain(`${report.id} ACCEPTED: queue ml has no room`);
      view.managerSilent(6_000, "connection refused");
      expect(out.text).toContain("has not answered for 6 s");
      if (over === "show") view.show(aJobStatus());
      else if (over === "left") view.left("Left");
      else view.ended({ report, exitCode: ExitCode.succeeded, outcome });
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what clears a terminal below its cursor
      expect(out.text).toMatch(/\u001b\[\d+A\r\u001b\[J$/);
    }
    const { view, out, err } = scene();
    view.waiting(aReport(), "queue ml has no room");
    view.managerSilent(6_000, "connection refused");
    expect(out.text).toBe("");
    expect(err.text).toMatch(/ACCEPTED: queue ml has no room\n.*has not answered for 6 s.*: connection refused\n$/);
  });

  test("have beside them in a pipe each state in which the job waits, though the ResourceManager was silent in between", () => {
    const { view, err, clock } = scene();
    for (const state of ["SUBMITTED", "ACCEPTED", "ACCEPTED"] as const) {
      view.waiting(aReport({ state }), "no room");
      view.managerSilent(6_000, "connection refused");
      clock.nowMs += 6_000;
    }
    expect(err.text.split("\n")).toEqual([
      `${report.id} SUBMITTED: no room`,
      expect.stringContaining("has not answered for 6 s"),
      `${report.id} ACCEPTED`,
      "",
    ]);
  });

  test("of a search name its trials, also in how it ended", () => {
    const { view, out, ends } = scene();
    const search = { metric: "loss", direction: "minimize", parameters: [], command: "" } as const;
    view.show(aJobStatus({ search }));
    view.taskLine("worker:1", { stream: "stdout", line: "a" });
    const failed = { ...outcome, result: "failed", summary: "worker:1 exited 1" } as const;
    view.ended({ report, exitCode: ExitCode.jobFailed, outcome: failed });
    expect(out.text).toBe("trial:1 | a\n");
    expect(ends[0]).toMatch(/FAILED: trial:1 exited 1\n/);
  });

  test("have what is said of the job beside them", () => {
    const { view, out, err } = scene();
    view.ending();
    view.line("The AM is silent");
    view.left("Left");
    expect([out.text, err.text]).toEqual(["", "Ending the job\nThe AM is silent\nLeft\n"]);
  });
});
