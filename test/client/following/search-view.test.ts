import { describe, expect, test } from "@jest/globals";
import { SearchView } from "../../../client/following/search-view.ts";
import { ExitCode } from "../../../src/errors.ts";
import type { ApplicationReport } from "../../../src/hadoop/yarn/records.ts";
import { endedBecause, type Undated } from "../../../src/job/outcome.ts";
import type { JobStatus, SearchStatus, TaskStatus, TrialStatus } from "../../../src/job/status.ts";
import { waitOf } from "../../../src/job/wait.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, noonishMs, role } from "../job-status.ts";
import { recordedContext } from "../support.ts";

const search: SearchStatus = {
  metric: "loss",
  direction: "minimize",
  parameters: ["lr"],
  command: "train.py --lr {{param.lr}}",
};

function trial(number: number, state: TrialStatus["state"], loss?: number): TaskStatus {
  return {
    task: `worker:${number}`,
    state: state === "running" ? "running" : "succeeded",
    restarts: 0,
    params: { lr: String(number) },
    trial: { state },
    ...(state === "running" && { host: "n1", startedAtMs: noonishMs }),
    ...(loss !== undefined && { metrics: { loss } }),
  };
}

const status = (tasks: readonly TaskStatus[], changes: Partial<JobStatus> = {}) =>
  aJobStatus({ roles: [{ ...role("worker", tasks.length), running: 1 }], tasks, search, ...changes });
const over = endedBecause("succeeded", { code: "trials-ended", completed: 2, stopped: 0, failed: 0, again: 0 });
const timeOver = endedBecause("succeeded", {
  ...{ code: "search-time-over", limitMs: 1, completed: 2, setting: { key: "tony.search.timeout" } },
} as const);

function scene({
  terminal = false,
  ...options
}: Partial<ConstructorParameters<typeof SearchView>[2]> & { readonly terminal?: boolean } = {}) {
  const { output, out, clock } = recordedContext({ terminal });
  clock.nowMs = noonishMs;
  const view = new SearchView(output, clock.now, options);
  const take = () => {
    const { text } = out;
    out.text = "";
    return text;
  };
  return { view, out, clock, take };
}
type Shown = ReturnType<typeof scene>["view"];
const end = (view: Shown, outcome: Undated, changes: Partial<Parameters<Shown["ended"]>[0]> = {}) =>
  view.ended({
    report: aReport({ state: "FINISHED" }),
    exitCode: ExitCode.succeeded,
    outcome: { ...outcome, endedAtMs: 0 },
    ...changes,
  });

describe("a search that is followed", () => {
  test("has each trial told that is better than all before, once", () => {
    const { view, take } = scene();
    const best = () => take().match(/best so far: .*/g);
    view.show(status([trial(0, "running", 0.1)]));
    expect(best()).toBeNull();
    view.show(status([trial(0, "completed", 0.5), trial(1, "running", 0.1)]));
    expect(best()).toEqual(["best so far: loss 0.5 of trial 0 (lr=0)"]);
    view.show(status([trial(0, "completed", 0.5), trial(1, "completed", 0.7)]));
    expect(best()).toBeNull();
    view.show(status([trial(0, "completed", 0.5), trial(1, "paused", 0.2)]));
    expect(best()).toEqual(["best so far: loss 0.2 of trial 1 (lr=1)"]);
    view.show(status([trial(0, "completed", 0.5), trial(1, "running", 0.2)]));
    view.show(status([trial(0, "completed", 0.5), trial(1, "paused", 0.2)]));
    expect(best()).toBeNull();
  });

  test("has a board below its lines: alone on a terminal, beside what is waited for in a pipe", () => {
    const reason = { code: "executors", role: "worker", tasks: ["worker:2"] } as const;
    const waits = [waitOf({ reason, sinceMs: noonishMs })];
    const waiting = status([trial(0, "completed", 0.5), trial(1, "running")], { waits });
    const pipe = scene();
    pipe.clock.nowMs += 60_000;
    pipe.view.show(waiting);
    const lines = pipe.take().split("\n");
    const [wait, board] = [/waiting|worker:2/, /^trials: /].map((words) => lines.findIndex((line) => words.test(line)));
    expect(wait).toBeGreaterThanOrEqual(0);
    expect(board).toBeGreaterThan(wait ?? 0);
    const shown = scene({ terminal: true });
    shown.clock.nowMs += 60_000;
    shown.view.show(waiting);
    const drawn = shown.take();
    expect(drawn).toMatch(/ {2}best {3}trial 0 · .*\n {2}trials .*\n {2}#1 {3}n1 {3}1 min/);
    expect(drawn).toContain("executors of");
    expect(drawn).not.toContain("queue ml");
  });

  test("is a job like any other before its first trial, and where its ApplicationMaster tells of no search", () => {
    const { view, take } = scene();
    view.show(status([]));
    view.show(aJobStatus());
    expect(take()).not.toMatch(/trials|best/);
    end(view, over);
    expect(take()).toMatch(/^ +0\.0 s {2}SUCCEEDED .*\n$/);
  });

  const both = [trial(0, "completed", 0.5), trial(1, "completed", 0.25)];
  const alone = "trial 1 alone: tony-ts search";

  test("ends with its best trials, and how the best of them is run alone, as it was run itself", () => {
    const { view, take } = scene({ given: ["digits.xml"], localFolder: (id) => `/jobs/${id}` });
    const { applicationId } = aJobStatus();
    view.show(status(both));
    take();
    end(view, over);
    const [first, ...rest] = take().trimEnd().split("\n");
    expect(first).toMatch(/SUCCEEDED/);
    expect(rest).toEqual([
      "trial   state       loss   lr",
      "1       completed   0.25   1",
      "0       completed   0.5    0",
      `${alone} digits.xml -conf tony.search.points=lr=1 -conf tony.search.max-trials=1`,
      "its program: train.py --lr 1",
      `its files: /jobs/${applicationId}/result.json, trials.jsonl`,
    ]);
  });

  test("of which nobody here knows how it was run is told as far as its status knows, and what is missing of that", () => {
    const { view, take } = scene();
    view.show(status(both, { search: { ...search, jobFile: "digits.xml", givenKeys: ["tony.search.seed"] } }));
    end(view, over);
    const text = take();
    expect(text).toContain(`${alone} digits.xml -conf 'tony.search.seed=<the same value>'`);
    expect(text).toContain("its command line set tony.search.seed");
    expect(text).not.toContain("its files");
  });

  test("that was cut off says how many trials it had, and how it goes on", () => {
    const { view, take } = scene({ given: ["digits.xml"] });
    view.show(status([...both, trial(2, "interrupted")], { search: { ...search, outputDir: "hdfs:///searches/" } }));
    end(view, timeOver);
    const { applicationId } = aJobStatus();
    const text = take();
    expect(text).toContain("2 completed, 1 interrupted\ntrial ");
    expect(text).toContain(`its files: hdfs:///searches/${applicationId}/result.json, trials.jsonl\n`);
    expect(text).toContain(`go on with it: tony-ts search digits.xml --resume ${applicationId}\n`);
  });

  test("shows ten trials, and how many more there are", () => {
    const { view, take } = scene({ given: [] });
    view.show(status(Array.from({ length: 12 }, (_, number) => trial(number, "completed", number))));
    end(view, over);
    expect(take()).toContain("\n9       completed   9      9\nand 2 more\n");
  });

  test("that failed has why its trials did, and no second table beside that of its report", () => {
    const { view, take } = scene({ given: [] });
    const failed = { ...trial(1, "failed"), trial: { state: "failed", why: "worker:1 exited 1" } as const };
    view.show(status([trial(0, "completed", 0.5), failed]));
    take();
    end(view, endedBecause("failed", { code: "stop-requested", words: "enough" }), { exitCode: ExitCode.jobFailed });
    const text = take();
    expect(text).toContain(`trial 1 failed: exited 1: tony-ts logs ${aJobStatus().applicationId} trial:1\n`);
    expect(text.match(/trial {3}state/g)).toHaveLength(1);
  });

  test("that failed altogether has each thing that is known of it, however little that is", () => {
    const containerTime = { heldMs: 100_000, startMs: 1_000, handOverMs: 0, barrierMs: 0, afterLastMs: 0 };
    const { view, take } = scene({ given: [] });
    const failed = { ...trial(0, "failed"), trial: { state: "failed", why: "worker:0 exited 1" } as const };
    view.show(status([failed], { search: { ...search, containerTime } }));
    take();
    end(view, endedBecause("failed", { code: "stop-requested", words: "enough" }), { exitCode: ExitCode.jobFailed });
    expect(take().trimEnd().split("\n").slice(-2)).toEqual([
      expect.stringMatching(/^containers were held for 1 min 40 s in all/),
      `trial 0 failed: exited 1: tony-ts logs ${aJobStatus().applicationId} trial:0`,
    ]);
  });

  test("says what Ctrl-C does to it while it waits", () => {
    const hint = (options: { readonly owns?: boolean }) => {
      const { view, clock, take } = scene({ terminal: true, ...options });
      clock.nowMs += 60_000;
      view.waiting(aReport(), "queue ml has no room");
      return take().match(/Ctrl-C (?:ends|leaves)/)?.[0];
    };
    expect([hint({}), hint({ owns: false })]).toEqual(["Ctrl-C ends", "Ctrl-C leaves"]);
  });

  test("tells what its containers did, and what YARN counts of them", () => {
    const containerTime = { heldMs: 100_000, startMs: 1_000, handOverMs: 0, barrierMs: 0, afterLastMs: 0 };
    const amount = { memoryMiB: 1, vcores: 1, others: {} };
    const spent = { memorySeconds: 1024, vcoreSeconds: 60, resourceSeconds: {} };
    const usage = { usedContainers: 0, used: amount, needed: amount, ...spent };
    const held = "containers were held for 1 min 40 s in all, 1.0 % of it idle: start 1 s";
    const lineWith = (changes: Partial<ApplicationReport>) => {
      const { view, take } = scene({ given: [] });
      view.show(status(both, { search: { ...search, containerTime } }));
      end(view, over, { report: aReport({ state: "FINISHED", ...changes }) });
      return take()
        .split("\n")
        .find((line) => line.startsWith("containers"));
    };
    expect(lineWith({})).toMatch(new RegExp(`^${held}, .*after their last trial 0 s$`));
    expect(lineWith({ usage })).toMatch(
      /after their last trial 0 s · YARN counts 1024 MiB·s and 60 core·s, the AM's among them$/,
    );
  });
});
