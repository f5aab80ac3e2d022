import { describe, expect, test } from "@jest/globals";
import { FollowView } from "../../../client/following/follow-view.ts";
import { ExitCode } from "../../../src/errors.ts";
import type { JobStatus } from "../../../src/job/status.ts";
import { waitOf } from "../../../src/job/wait.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs, outOfMemory, role } from "../job-status.ts";
import { recordedContext } from "../support.ts";

/** Programs that are awaited since so long after the submission. */
const waitFor = (task: string, afterMs: number) =>
  waitOf({
    reason: { code: "executors", role: "worker", tasks: [task] },
    sinceMs: recordedContext({}).clock.nowMs + afterMs,
  });

/** A job that is shown since two seconds after its submission. */
function scene({
  terminal = false,
  ...options
}: {
  terminal?: boolean;
  owns?: boolean;
  adviceOn?: (status: JobStatus) => string | undefined;
} = {}) {
  const { output, out, err, clock } = recordedContext({ terminal });
  const sinceMs = clock.nowMs;
  const view = new FollowView(output, clock.now, sinceMs, options);
  const at = (ms: number) => {
    clock.nowMs = sinceMs + ms;
  };
  return { view, out, err, at };
}
const outcome = { ...allSucceeded, endedAtMs: 1 };
const end = { report: aReport({ state: "FINISHED" }), exitCode: ExitCode.succeeded };

describe("a job that is followed", () => {
  test.each([
    [true, 1_500],
    [false, 3_000],
  ])("is said to wait where that lasts; on a terminal (%s) after %i ms", (terminal, afterMs) => {
    const { view, out, err, at } = scene({ terminal });
    at(afterMs - 1);
    view.waiting(aReport(), "queue ml has no room");
    expect(out.text + err.text).toBe("");
    at(afterMs);
    view.waiting(aReport(), "queue ml has no room");
    expect(out.text + err.text).toContain("queue ml has no room");
    out.text = "";
    view.show(aJobStatus({ waits: [waitFor("worker:0", 1)] }));
    expect(out.text).not.toContain("waiting");
    view.show(aJobStatus({ waits: [waitFor("worker:0", 0)] }));
    expect(out.text).toContain("waiting");
  });

  test("has its AM told once, with where it can be seen, and each line the time since its submission", () => {
    const { view, out, at } = scene();
    view.trackingUrl("http://rm/1");
    at(2_000);
    for (const generation of [1, 1]) view.show(aJobStatus({ generation }));
    expect(out.text.match(/AM running on/g)).toHaveLength(1);
    expect(out.text).toMatch(/^ {3}2\.0 s {2}AM running on 127\.0\.0\.12 +http:\/\/rm\/1\n/);
  });

  test("is not begun again by an attempt that has yet to read what the one before left", () => {
    const { view, out } = scene();
    view.show(aJobStatus({ attempt: 1 }));
    const before = out.text;
    view.show(aJobStatus({ attempt: 2, state: "starting", tasks: [] }));
    expect(out.text).toBe(before);
    view.show(aJobStatus({ attempt: 2 }));
    expect(out.text).not.toBe(before);
  });

  test("has its AM told from its first state on, also one that has yet to begin", () => {
    const { view, out, at } = scene();
    view.show(aJobStatus({ state: "starting", tasks: [] }));
    expect(out.text).toContain("AM running on");
    at(60_000);
    view.show(aJobStatus({ state: "starting", tasks: [], waits: [waitFor("worker:0", 0)] }));
    expect(out.text).toContain("waiting 1 min for the executors of worker:0");
  });

  test("is not told to run again by the next attempt, which hears of its programs one by one", () => {
    const { view, out } = scene();
    const ofAttempt = (attempt: number, running: number) =>
      aJobStatus({ attempt, roles: [{ ...role("worker", 2), running }] });
    view.show(ofAttempt(1, 2));
    for (const running of [0, 1, 2]) view.show(ofAttempt(2, running));
    expect(out.text.match(/worker 2\/2 running/g)).toHaveLength(1);
  });

  test("on a terminal has nothing left of a wait when that is over", () => {
    const { view, out, at } = scene({ terminal: true });
    at(60_000);
    const reason = { code: "executors", role: "worker", tasks: ["worker:0"] } as const;
    view.show(aJobStatus({ waits: [waitOf({ reason, sinceMs: 0 })] }));
    expect(out.text).toContain("worker:0");
    view.show(aJobStatus());
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what clears a terminal below its cursor
    expect(out.text).toMatch(/\u001b\[\d+A\r\u001b\[J$/);
  });

  test("on a terminal says what Ctrl-C does while it waits: for its AM, and for what it needs", () => {
    const reason = { code: "executors", role: "worker", tasks: ["worker:0"] } as const;
    const waits = [waitOf({ reason, sinceMs: 0 })];
    const hints = (owns: boolean | undefined, isEnding = false) => {
      const { view, out, at } = scene({ terminal: true, ...(owns !== undefined && { owns }) });
      at(60_000);
      if (isEnding) view.ending();
      return [() => view.waiting(aReport(), "queue ml has no room"), () => view.show(aJobStatus({ waits }))].map(
        (shows) => {
          out.text = "";
          shows();
          return out.text
            .trimEnd()
            .split(/\n {2}(?! )/)
            .at(-1)
            ?.replaceAll(/\n */g, " ");
        },
      );
    };
    const { applicationId } = aJobStatus();
    const ends = `Ctrl-C ends the job · close the terminal and it runs on: tony-ts status ${applicationId}`;
    expect(hints(undefined)).toEqual([ends, ends]);
    const leaves = `Ctrl-C leaves the job running; to end it: tony-ts kill ${applicationId}`;
    expect(hints(false)).toEqual([leaves, leaves]);
    expect(hints(true, true)).toEqual(["Ctrl-C again leaves at once", "Ctrl-C again leaves at once"]);
  });

  test("in a pipe has its waits told with the time since its submission", () => {
    const { view, out, at } = scene();
    at(61_000);
    view.waiting(aReport(), "queue ml has no room");
    view.trackingUrl("http://rm/1");
    const reason = { code: "executors", role: "worker", tasks: ["worker:0"] } as const;
    view.show(aJobStatus({ waits: [waitOf({ reason, sinceMs: 0 })] }));
    const [first, , ...others] = out.text.split("\n");
    expect(first).toBe("1 min 1 s  ACCEPTED 1 min 1 s: queue ml has no room");
    expect(others.find((line) => line.includes("waiting"))).toMatch(
      /^ *1 min 1 s {2}waiting .* for the executors of worker:0 /,
    );
  });

  test("in a pipe has each state in which it waits for its AM told, though the ResourceManager was silent in between", () => {
    const { view, out, at } = scene();
    for (const [index, state] of (["SUBMITTED", "ACCEPTED", "ACCEPTED"] as const).entries()) {
      at(60_000 + index * 6_000);
      view.waiting(aReport({ state }), "no room");
      view.managerSilent(6_000, "connection refused");
    }
    expect(out.text.split("\n")).toEqual([
      "   1 min  SUBMITTED 1 min: no room",
      expect.stringContaining("has not answered for 6 s"),
      "1 min 6 s  ACCEPTED 1 min 6 s",
      "",
    ]);
  });

  test("on a terminal stands below its name, queue, host and address while it waits", () => {
    const { view, out, at } = scene({ terminal: true });
    at(60_000);
    view.trackingUrl("http://rm/1");
    const reason = { code: "executors", role: "worker", tasks: ["worker:0"] } as const;
    view.show(aJobStatus({ waits: [waitOf({ reason, sinceMs: 0 })] }));
    const { applicationId } = aJobStatus();
    expect(out.text.replaceAll(/\n {2}/g, " ")).toContain(
      `${applicationId}  bert · queue ml · AM on 127.0.0.12 · http://rm/1`,
    );
  });

  test("has a silence of the ResourceManager told, and why", () => {
    const { view, out } = scene();
    view.managerSilent(6_000, "connection refused");
    expect(out.text).toMatch(/^The ResourceManager has not answered for 6 s; .*: connection refused\n$/);
  });

  test("of which its output is a search's names the trials", () => {
    const { view, out } = scene();
    view.show(aJobStatus({ search: { metric: "loss", direction: "minimize", parameters: [], command: "" } }));
    out.text = "";
    view.taskLine("worker:0", { stream: "stdout", line: "epoch 1" });
    expect(out.text).toBe("trial:0 | epoch 1\n");
  });

  test("shows what its tasks print, by their names", () => {
    const { view, out } = scene();
    view.taskLine("worker:0", { stream: "stdout", line: "epoch 1" });
    expect(out.text).toBe("worker:0 | epoch 1\n");
  });

  test("that is over has nothing left of a wait on a terminal, nor has one that is left; how it ended is in colour", () => {
    const shown = (over: (view: FollowView) => void) => {
      const { view, out, at } = scene({ terminal: true });
      at(60_000);
      view.waiting(aReport(), "queue ml has no room");
      out.text = "";
      over(view);
      return out.text.replaceAll("\u001b", "^").replace(/\^\[\d+A\r\^\[J/, "[cleared]");
    };
    const killed = { ...outcome, result: "killed", summary: "killed by bob" } as const;
    expect(shown((view) => view.left("Left"))).toBe("[cleared]");
    expect(shown((view) => view.ended({ ...end, outcome }))).toMatch(
      /^\[cleared\] {3}1 min {2}\^\[32mSUCCEEDED\^\[39m\n$/,
    );
    expect(shown((view) => view.ended({ ...end, outcome: killed, exitCode: ExitCode.killed }))).toMatch(
      /^\[cleared\] {3}1 min {2}\^\[31mKILLED +\^\[39mkilled by bob\n$/,
    );
  });

  test("that succeeded says what became of its output, and has its advice by how it ended", () => {
    const asked: JobStatus[] = [];
    const { view, out } = scene({
      adviceOn: (status) => {
        asked.push(status);
        return undefined;
      },
    });
    const [worker] = aJobStatus().tasks;
    if (worker === undefined) throw new Error("a worker");
    const transfer = {
      what: "output",
      url: "hdfs:///out",
      state: "done",
      bytes: 5,
      files: 1,
      step: 0,
      atMs: 1,
      reason: "",
    } as const;
    const status = aJobStatus({ tasks: [{ ...worker, transfers: [transfer] }] });
    view.show(status);
    view.ended({ ...end, outcome });
    expect(out.text).toMatch(/SUCCEEDED .*\n {10}output .*hdfs:\/\/\/out.*\n$/);
    expect(asked).toEqual([{ ...status, outcome }]);
  });

  test("that was killed while its AM was heard has the report of one that failed, by its last state and its report", () => {
    const { view, out } = scene();
    const checkpoint = { path: "/ckpt/5", step: 5, atMs: noonishMs };
    view.show(aJobStatus({ state: "finishing", checkpoint }));
    const killed = { ...outcome, result: "killed", summary: "killed by bob", endedAtMs: noonishMs + 12_000 } as const;
    const report = aReport({ state: "KILLED", startTimeMs: noonishMs, finishTimeMs: noonishMs + 90_000 });
    view.ended({ report, outcome: killed, exitCode: ExitCode.killed });
    expect(out.text).toContain("KILLED  application_1795305600000_0009  bert · 1 min 30 s · ");
    expect(out.text).toContain(
      "\nAll containers are returned; the last checkpoint is kept: step 5, saved 12 s before the end: /ckpt/5\n",
    );
  });

  test("that succeeded has advice, where there is any, and what was cleaned", () => {
    const { view, out } = scene({ adviceOn: () => "ask for less" });
    view.show(aJobStatus());
    view.ended({ ...end, outcome, cleaned: "all is clean" });
    expect(out.text).toMatch(/SUCCEEDED .*\n {10}ask for less\n.*all is clean\n$/);
    expect(out.text).toContain("2 of 2 tasks exited 0");
    const unseen = scene({ adviceOn: () => "ask for less" });
    unseen.view.ended({ ...end, outcome });
    expect(unseen.out.text).toMatch(/^ +0\.0 s {2}SUCCEEDED\n$/);
  });

  test("that failed or was killed says why, whether its AM was heard or not", () => {
    const killed = { ...outcome, result: "killed", summary: "killed by bob" } as const;
    const unheard = scene();
    unheard.view.ended({ ...end, outcome: killed, exitCode: ExitCode.killed });
    expect(unheard.out.text).toMatch(/KILLED +killed by bob\n$/);
    const failed = { ...outcome, result: "failed", cause: outOfMemory() } as const;
    const heard = scene();
    heard.view.show(aJobStatus());
    heard.view.ended({ ...end, outcome: failed, exitCode: ExitCode.jobFailed });
    expect(heard.out.text).toContain("worker:1 ran out of memory on 127.0.0.12");
    expect(heard.out.text).toContain("\n\nFAILED  application_1795305600000_0009");
    const masterless = scene();
    masterless.view.ended({ ...end, outcome: { ...outcome, result: "failed", summary: "the AM did not start" } });
    expect(masterless.out.text).toContain("the AM did not start");
  });

  test("that is left says why, beside the result", () => {
    const { view, out, err } = scene();
    view.ending();
    view.left("Left");
    expect([out.text, err.text]).toEqual([expect.stringContaining("press Ctrl-C again"), "Left\n"]);
  });
});
