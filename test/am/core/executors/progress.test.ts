import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { searchRun } from "../../../../src/job/build/search-run.ts";
import type { Search } from "../../../../src/job/search/trials.ts";
import { searchOf } from "../../../job/search/support.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);
const spec = { ...base, timeouts: { ...base.timeouts, progressMs: 60_000 } };
const reason = { code: "hung", noProgressMs: 60_000, step: 7 } as const;

function runningJob(): Scenario {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  return scenario;
}

function reports(scenario: Scenario, task: string, step: number): Effect[] {
  const { containerId, generation } = scenario.task(task);
  return scenario.on({ type: "child-progress", task, containerId, generation, step, atMs: scenario.nowMs });
}

/** Its stream breaks, and it calls again. */
function isBack(scenario: Scenario, task: string): void {
  scenario.breaks(task);
  scenario.after(1_000);
  scenario.reports(task, { state: "running", pid: 7, startedAtMs: scenario.task(task).startedAtMs ?? 0 });
}

/** The tasks that are stopped because they hang. */
function dumped(effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) =>
    effect.type === "send" && effect.message.type === "stop-child" && effect.message.dumpStacks ? [effect.to.task] : [],
  );
}

describe("a program that reports its steps", () => {
  test("has the whole time again even after a step before the last one, because it may have gone back to a checkpoint", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    scenario.after(50_000);
    reports(scenario, "worker:0", 3);
    expect(dumped(scenario.after(59_999))).toEqual([]);
    expect(dumped(scenario.after(1))).toEqual(["worker:0"]);
  });

  test("counts as hung when it reports none in time: its executor is asked for its stack, and stops it", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 6);
    scenario.after(50_000);
    reports(scenario, "worker:0", 7);
    expect(dumped(scenario.after(59_999))).toEqual([]);
    const effects = scenario.after(1);
    expect(dumped(effects)).toEqual(["worker:0"]);
    expect(effects).toContainEqual(
      expect.objectContaining({ message: expect.objectContaining({ type: "stop-child", reason, generation: 1 }) }),
    );
    expect(effects).toContainEqual(
      expect.objectContaining({
        type: "log",
        event: "task-hung",
        message: expect.stringMatching(/^worker:0 is stopped, /),
      }),
    );
  });

  test("does not count as hung because the end of its time waited in the mailbox behind its next step", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 6);
    scenario.after(59_000);
    reports(scenario, "worker:0", 7);
    expect(dumped(scenario.wakes())).toEqual([]);
    expect(dumped(scenario.after(59_999))).toEqual([]);
    expect(dumped(scenario.after(1))).toEqual(["worker:0"]);
  });

  test("has its whole time again when its executor is back, because nobody heard of its steps meanwhile", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    scenario.after(50_000);
    isBack(scenario, "worker:0");
    expect(dumped(scenario.after(59_999))).toEqual([]);
    expect(dumped(scenario.after(1))).toEqual(["worker:0"]);
  });

  test("is not charged for an order to stop that may not have reached its executor", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    expect(dumped(scenario.after(60_000))).toEqual(["worker:0"]);
    isBack(scenario, "worker:0");
    scenario.after(59_000);
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
    expect(dumped(scenario.after(1_000))).toEqual(["worker:0"]);
  });

  test("and hung fails as a program, with its stack, and its generation restarts", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    scenario.after(60_000);
    const traceback = 'Current thread 0x1 (most recent call first):\n  File "train.py", line 88 in step';
    scenario.exits("worker:0", { signal: "SIGABRT", stopReason: reason, traceback });
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({
      class: "program",
      task: "worker:0",
      summary: `worker:0 on n1 hung: no progress for 1 min at step 7`,
      exit: "SIGABRT",
      lines: traceback.split("\n"),
      remedy: "its stacks below show what it waits for; if a step may take longer, raise tony.task.progress-timeout",
    });
    scenario.stops("worker:1");
    expect(scenario.gang.generation).toBe(2);
  });

  test("and was stopped because it hung is not taken for the one that starts after it in its container", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    scenario.after(60_000);
    scenario.exits("worker:0", { signal: "SIGTERM", stopReason: reason });
    scenario.stops("worker:1");
    scenario.readyAll();
    scenario.startedAll();
    scenario.after(59_000);
    expect(scenario.phases()).toBe("worker:0 running, worker:1 running");
    expect(scenario.job).toMatchObject({ generation: 2 });
    expect(scenario.used).toMatchObject({ program: 1, infrastructure: 0 });
  });

  test("makes no progress by reporting the same step again", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    scenario.after(40_000);
    reports(scenario, "worker:0", 7);
    expect(dumped(scenario.after(20_000))).toEqual(["worker:0"]);
  });

  test("has gone on where it says no other step, and its checkpoint is a later one", () => {
    const scenario = runningJob();
    const saved = (step: number) => {
      const { containerId, generation } = scenario.task("worker:0");
      const checkpoint = { path: `hdfs:///c/${step}`, step, atMs: scenario.nowMs };
      const life = { task: "worker:0", containerId, generation };
      scenario.on({ type: "child-progress", ...life, step: 7, atMs: scenario.nowMs, checkpoint });
    };
    saved(6);
    scenario.after(50_000);
    saved(7);
    expect(dumped(scenario.after(59_999))).toEqual([]);
    expect(dumped(scenario.after(1))).toEqual(["worker:0"]);
  });

  test("owes the next step also where its first report is of no step", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 0);
    expect(dumped(scenario.after(60_000))).toEqual(["worker:0"]);
  });

  test("is not the one that says so from the container that its task had before", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    scenario.allocateAll();
    const { containerId, generation } = scenario.task("worker:0");
    scenario.completes(containerId, -100);
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    expect(scenario.task("worker:0").generation).toBe(generation);
    scenario.on({ type: "child-progress", task: "worker:0", containerId, generation, step: 9, atMs: 0 });
    expect(scenario.task("worker:0").step).toBe(0);
    expect(dumped(scenario.after(600_000))).toEqual([]);
  });

  test("is not limited before its first report, in every generation", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    expect(dumped(scenario.after(10_000))).toEqual([]);
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    scenario.readyAll();
    scenario.startedAll();
    expect(scenario.task("worker:0")).toMatchObject({ phase: "running", generation: 2 });
    expect(dumped(scenario.after(200_000))).toEqual([]);
  });

  test("has more time while its stream is broken, because its reports are on their way", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    scenario.after(59_000);
    scenario.breaks("worker:0");
    expect(dumped(scenario.after(1_500))).toEqual([]);
  });

  test("has more time while its executor is silent, because that is either back or lost soon", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    scenario.after(59_000);
    scenario.silent("worker:0", 6_000);
    expect(dumped(scenario.after(1_500))).toEqual([]);
  });

  test("has no more time for a silence that another stream has ended", () => {
    const scenario = runningJob();
    scenario.silent("worker:0", 6_000);
    scenario.on({ type: "executor-lost", task: "worker:0", containerId: "c1", cause: "stream-broken" });
    scenario.reports("worker:0", { state: "running", pid: 1, startedAtMs: scenario.nowMs });
    reports(scenario, "worker:0", 7);
    expect(dumped(scenario.after(60_000))).toContain("worker:0");
  });

  test("loses its container when its executor does not end it", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    scenario.after(60_000);
    const effects = scenario.after(60_000);
    expect(effects).toContainEqual(expect.objectContaining({ type: "stop-container", containerId: "c1" }));
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ class: "program", task: "worker:0" });
  });

  test("owes no more steps once it has ended", () => {
    const scenario = runningJob();
    reports(scenario, "worker:0", 7);
    scenario.exits("worker:0");
    expect(dumped(scenario.after(60_000))).toEqual([]);
  });

  test("may take any time where no limit is set", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    reports(scenario, "worker:0", 7);
    expect(dumped(scenario.after(3_600_000))).toEqual([]);
  });
});

describe("a gang that makes no progress", () => {
  const gang = { ...jobSpec([role("worker", 3)]), timeouts: { ...base.timeouts, progressMs: 60_000 } };
  const stack = (task: string) => [`stack of ${task}`];

  function hanging(): Scenario {
    const scenario = new Scenario(gang);
    scenario.toRunning();
    for (const task of ["worker:1", "worker:0"]) reports(scenario, task, 7);
    return scenario;
  }

  function stands(scenario: Scenario, task: string, where: string, isExchange: boolean): void {
    const { containerId, generation } = scenario.task(task);
    scenario.on({ type: "child-place", task, containerId, generation, where, isExchange, lines: stack(task) });
  }

  function asked(effects: readonly Effect[]): string[] {
    return effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "tell-place" ? [effect.to.task] : [],
    );
  }

  function endedBy(scenario: Scenario) {
    for (const task of ["worker:1", "worker:0"]) {
      scenario.exits(task, { signal: "SIGABRT", stopReason: reason, traceback: "its own" });
    }
    return scenario.gang.generations[0]?.endedBy;
  }

  test("is not seen in the trials of a search: nobody asks the other trials where they are in their code", () => {
    const search: Search = { ...searchOf({ x: "float 0 1" }), maxTrials: 3, maxParallel: 3 };
    const one = { ...jobSpec([role("worker", 1)]), timeouts: { ...base.timeouts, progressMs: 60_000 } };
    const scenario = new Scenario(searchRun(one, search));
    scenario.toRunning();
    for (const task of ["worker:1", "worker:0"]) reports(scenario, task, 7);
    expect(asked(scenario.after(60_000))).toEqual([]);
  });

  test("within a trial is described by the names that its tasks have in the trial", () => {
    const search: Search = { ...searchOf({ x: "float 0 1" }), maxTrials: 2, maxParallel: 2 };
    const two = { ...jobSpec([role("worker", 2)]), timeouts: { ...base.timeouts, progressMs: 60_000 } };
    const scenario = new Scenario(searchRun(two, search));
    scenario.toRunning();
    const trial = ["worker:2", "worker:3"];
    for (const task of trial) reports(scenario, task, 7);
    expect(asked(scenario.after(60_000))).toEqual(trial);
    stands(scenario, "worker:2", "in all_reduce train.py:27", true);
    stands(scenario, "worker:3", "at train.py:26", false);
    for (const task of trial) scenario.exits(task, { signal: "SIGABRT", stopReason: reason, traceback: "its own" });
    expect(scenario.core.state.gangs[1]?.generations[0]?.endedBy?.summary).toMatch(
      /^worker:3 on n\d holds up the others: .*; worker:0 in all_reduce train.py:27; worker:1 at train.py:26$/,
    );
  });

  test("is asked where its programs are in their code, and the only one that does not wait for the others is named", () => {
    const scenario = hanging();
    expect(asked(scenario.after(60_000))).toEqual(["worker:0", "worker:1", "worker:2"]);
    for (const task of ["worker:0", "worker:1"]) stands(scenario, task, "in all_reduce train.py:27", true);
    stands(scenario, "worker:2", "at train.py:26", false);
    const { host, containerId } = scenario.task("worker:2");
    expect(endedBy(scenario)).toMatchObject({
      ...{ task: "worker:2", host, containerId, lines: stack("worker:2") },
      consequences: [],
      summary: `worker:2 on ${host} holds up the others: no progress for 1 min at step 7; 2 of 3 in all_reduce train.py:27; worker:2 at train.py:26`,
    });
  });

  test.each([
    ["all wait for each other", ["in all_reduce train.py:27", true], "3 of 3 in all_reduce train.py:27"],
    [
      "one waits elsewhere",
      ["in broadcast train.py:9", true],
      "2 of 3 in all_reduce train.py:27; worker:2 in broadcast train.py:9",
    ],
    ["one does not say", undefined, "2 of 3 in all_reduce train.py:27; not known of 1"],
  ] as const)("names no task where %s", (_case, third, places) => {
    const scenario = hanging();
    scenario.after(60_000);
    for (const task of ["worker:0", "worker:1"]) stands(scenario, task, "in all_reduce train.py:27", true);
    if (third !== undefined) stands(scenario, "worker:2", third[0], third[1]);
    const cause = endedBy(scenario);
    const remedy = "if a step may take longer, raise tony.task.progress-timeout";
    const summary = `the tasks hung: no progress for 1 min at step 7; ${places}`;
    expect(cause).toMatchObject({ summary, lines: [], remedy });
    expect(cause).not.toHaveProperty("task");
    expect(cause).not.toHaveProperty("host");
  });

  test("names no task where the others compute, because a task that waits for them is their victim", () => {
    const scenario = hanging();
    scenario.after(60_000);
    for (const task of ["worker:0", "worker:2"]) stands(scenario, task, "in read train.py:20", false);
    stands(scenario, "worker:1", "in all_reduce train.py:27", true);
    expect(endedBy(scenario)).not.toHaveProperty("task");
  });

  test("says where it stands for the generation that was asked, and no other", () => {
    const scenario = hanging();
    scenario.after(60_000);
    const { containerId } = scenario.task("worker:0");
    const said = { where: "at old.py:1", isExchange: false, lines: [] };
    scenario.on({ type: "child-place", task: "worker:0", containerId, generation: 0, ...said });
    scenario.on({ type: "child-place", task: "worker:0", containerId: "c9", generation: 1, ...said });
    expect(scenario.task("worker:0").place?.where).toBe("");
    for (const task of ["worker:0", "worker:1", "worker:2"]) {
      scenario.exits(task, { signal: "SIGABRT", stopReason: reason });
    }
    scenario.readyAll();
    scenario.startedAll();
    const { containerId: there, generation } = scenario.task("worker:0");
    for (const late of [1, generation]) {
      scenario.on({ type: "child-place", task: "worker:0", containerId: there, generation: late, ...said });
    }
    expect(scenario.task("worker:0").place).toMatchObject({ generation: 1, where: "" });
  });

  test("is asked with one message to each program, and no place is known until it answers", () => {
    const scenario = hanging();
    expect(scenario.after(60_000)).toContainEqual({
      type: "send",
      to: { task: "worker:2", containerId: "c3" },
      message: { type: "tell-place", generation: 1 },
    });
    expect(scenario.task("worker:2").place).toEqual({ generation: 1, where: "", isExchange: false, lines: [] });
  });

  test("is asked by way of its programs that train and still run, and not where only one does", () => {
    const roles = [
      role("worker", 3),
      role("ps", 1, { tracking: "untracked" }),
      role("board", 1, { tracking: "sidecar" }),
    ];
    const scenario = new Scenario({ ...gang, roles });
    scenario.toRunning();
    reports(scenario, "worker:0", 7);
    scenario.exits("worker:2");
    expect(asked(scenario.after(60_000))).toEqual(["worker:0", "worker:1"]);

    const alone = new Scenario({ ...gang, roles: [role("worker", 1), ...roles.slice(1)] });
    alone.toRunning();
    reports(alone, "worker:0", 7);
    expect(asked(alone.after(60_000))).toEqual([]);
  });

  test.each([
    [30_000, ["worker:0", "worker:1", "worker:2"]],
    [29_999, []],
  ])("has gone on where another task has reported a step in the last half of the time: %i ms ago", (agoMs, whom) => {
    const scenario = new Scenario(gang);
    scenario.toRunning();
    reports(scenario, "worker:0", 7);
    scenario.after(60_000 - agoMs);
    reports(scenario, "worker:1", 7);
    expect(asked(scenario.after(agoMs))).toEqual(whom);
  });

  test("is not seen where another task has gone on: then the one that hangs is named", () => {
    const scenario = hanging();
    scenario.after(40_000);
    reports(scenario, "worker:0", 8);
    expect(asked(scenario.after(20_000))).toEqual([]);
    expect(endedBy(scenario)).toMatchObject({ task: "worker:1", lines: ["its own"] });
  });
});
