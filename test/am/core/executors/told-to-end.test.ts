import { describe, expect, test } from "@jest/globals";
import { stopWithinMs } from "../../../../src/job/silence.ts";
import type { FailureSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario, sentOf, typesOf } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);

function running(failure: Partial<FailureSpec> = {}): Scenario {
  const scenario = new Scenario({ ...base, failure: { ...base.failure, ...failure } });
  scenario.toRunning();
  return scenario;
}

/** What an executor does on SIGTERM: its program's end, then goodbye. */
function toldToEnd(scenario: Scenario, task: string): void {
  const { containerId } = scenario.task(task);
  scenario.exits(task, { signal: "SIGTERM", stopReason: { code: "container-terminated" }, lastLines: ["step 1840"] });
  scenario.on({ type: "executor-lost", task, containerId, cause: "goodbye" });
}

describe("a node ends a container for its memory: the executor says goodbye first, and YARN gives the reason later", () => {
  test("the restart begins at once, but nothing is released before YARN's report, because a release would hide it", () => {
    const scenario = running();
    toldToEnd(scenario, "worker:1");
    scenario.stops("worker:0");
    expect(scenario.job).toMatchObject({ generation: 2 });
    expect(scenario.used).toMatchObject({ program: 0, infrastructure: 1 });
    expect(scenario.phases()).toBe("worker:0 preparing, worker:1 waiting");
    expect(typesOf(scenario.effects)).not.toContain("release");
  });

  test("until YARN gives the reason, the job says only that the container ended, not by whom or how", () => {
    const scenario = running();
    toldToEnd(scenario, "worker:1");
    scenario.stops("worker:0");
    const unknown = "the executor of worker:1 on n2 ended, and YARN has not said why";
    expect(scenario.gang.generations[0]?.endedBy?.summary).toBe(unknown);
    expect(scenario.gang.restartReason).toBe(unknown);
    scenario.completes("c2", -103);
    const known = "worker:1 used more virtual memory than YARN allows on n2";
    expect(scenario.gang.generations[0]?.endedBy?.summary).toBe(known);
    expect(scenario.gang.restartReason).toBe(known);
  });

  test.each([{ signal: "SIGTERM" }, { exitCode: 143 }])(
    "a program that ended before its executor is judged by YARN's reason or, without one, by its own exit: %j",
    (exit) => {
      const told = () => scenario.gang.generations[0]?.endedBy?.summary;
      const scenario = running({ budgets: { program: 2, infrastructure: 5 } });
      scenario.exits("worker:1", exit);
      scenario.stops("worker:0");
      expect(told()).toMatch(/^worker:1 .* on n2; YARN may yet say why$/);
      scenario.after(4_000);
      expect(told()).toMatch(/^worker:1 .* on n2$/);
      expect(scenario.used).toMatchObject({ program: 1 });
      const explained = running({ budgets: { program: 2, infrastructure: 5 } });
      explained.exits("worker:1", exit);
      explained.completes("c2", -103);
      expect(explained.gang.generations[0]?.endedBy?.summary).toMatch(/used more virtual memory/);
    },
  );

  test("a task that restarts alone is given the reason as well, once it is known", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { restartPolicy: "task" })]));
    scenario.toRunning();
    toldToEnd(scenario, "worker:1");
    expect(scenario.task("worker:1").restartReason).toContain("YARN has not said why");
    scenario.completes("c2", -103);
    expect(scenario.task("worker:1").restartReason).toBe("worker:1 used more virtual memory than YARN allows on n2");
  });

  test("YARN's report counts even when the stage is done by then", () => {
    const scenario = new Scenario(jobSpec([role("prep", 1), role("worker", 1, { dependsOn: ["prep"] })]));
    scenario.toRunning();
    const { containerId } = scenario.task("prep:0");
    toldToEnd(scenario, "prep:0");
    scenario.allocateAll();
    scenario.ready("prep:0");
    scenario.startedAll();
    scenario.exits("prep:0");
    expect(scenario.core.state.gangs.map(({ phase }) => phase)).toEqual(["done", "gathering"]);
    scenario.completes(containerId, -104);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });

  test.each([-103, -104])(
    "YARN's %i makes it the program's failure: the other budget is paid back, and no machine is blamed",
    (status) => {
      const scenario = running();
      toldToEnd(scenario, "worker:1");
      scenario.stops("worker:0");
      scenario.completes("c2", status);
      expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
      expect(scenario.gang.generations[0]?.endedBy).toMatchObject({
        class: "program",
        task: "worker:1",
        exit: String(status),
        lines: ["step 1840"],
        remedy: expect.stringContaining("raise tony.worker.memory (job.xml:16), e.g. to 1536m"),
      });
      expect(scenario.task("worker:1").machineFailures).toBe(0);
      expect(Object.values(scenario.core.state.blame).some(({ failures }) => failures > 0)).toBe(false);
    },
  );

  test("the same holds when the ApplicationMaster dies before the report: the next attempt does not hide it either", () => {
    const scenario = running();
    toldToEnd(scenario, "worker:1");
    scenario.stops("worker:0");
    scenario.after(1_000);
    const effects = scenario.crash([]);
    expect(typesOf(effects)).not.toContain("release");
    scenario.completes("c2", -104);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });

  test("a container that ends because the job ends is no evidence in a verdict that is still open", () => {
    const scenario = running({ budgets: { program: 0, infrastructure: 5 } });
    scenario.exits("worker:1", { signal: "SIGKILL" });
    scenario.on({ type: "stop-requested", reason: "enough" });
    scenario.completes("c2", 0);
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
    expect(scenario.job).toMatchObject({ phase: "finishing", generation: 1 });
  });

  test("without a program budget the job fails by YARN's report, and the summary names the spent budget", () => {
    const scenario = running({ budgets: { program: 0, infrastructure: 5 } });
    toldToEnd(scenario, "worker:1");
    scenario.stops("worker:0");
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.completes("c2", -103);
    expect(scenario.core.state.outcome).toMatchObject({
      result: "failed",
      summary: expect.stringContaining("; program restarts: none allowed (tony.am.retry-count = 0)"),
      rule: "program restarts: none allowed (tony.am.retry-count = 0)",
      cause: { class: "program", exit: "-103" },
    });
  });

  test("the same holds at the very end, when the other worker has already succeeded", () => {
    const scenario = running({ budgets: { program: 0, infrastructure: 5 } });
    scenario.exits("worker:0");
    toldToEnd(scenario, "worker:1");
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.completes("c2", -104);
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { task: "worker:1", exit: "-104" } });
  });

  test("a program that the same signal killed before its executor could stop it is judged by YARN's report, too", () => {
    const scenario = running({ budgets: { program: 0, infrastructure: 5 } });
    scenario.exits("worker:1", { signal: "SIGTERM" });
    scenario.on({ type: "executor-lost", task: "worker:1", containerId: "c2", cause: "goodbye" });
    scenario.stops("worker:0");
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.completes("c2", -102);
    expect(scenario.job).toMatchObject({ outcome: undefined, generation: 2 });
    expect(scenario.used).toMatchObject({ program: 0 });
  });

  test.each([{ signal: "SIGTERM" }, { exitCode: 143 }])(
    "however late YARN's report comes, it counts where its executor ends too: %j",
    (exit) => {
      const scenario = running({ budgets: { program: 0, infrastructure: 5 } });
      scenario.exits("worker:1", exit);
      scenario.breaks("worker:1");
      scenario.stops("worker:0");
      scenario.after(base.timeouts.verdictMs - 1_000);
      expect(scenario.core.state.outcome).toBeUndefined();
      scenario.completes("c2", -103);
      expect(scenario.core.state.outcome).toMatchObject({ cause: { task: "worker:1", exit: "-103" } });
    },
  );

  test("the verdict does not wait for a report that never comes", () => {
    const scenario = running({ budgets: { program: 0, infrastructure: 5 } });
    scenario.exits("worker:1", { signal: "SIGKILL" });
    scenario.stops("worker:0");
    scenario.after(4_000);
    expect(scenario.core.state.outcome).toMatchObject({ cause: { exit: "SIGKILL" } });
  });

  test("a container about which YARN reports nothing goes back after the verdict's time", () => {
    const scenario = running();
    toldToEnd(scenario, "worker:1");
    scenario.stops("worker:0");
    expect(scenario.after(base.timeouts.verdictMs)).toContainEqual({
      type: "release",
      containerIds: ["c2"],
      reason: "its node ended it",
    });
  });
});

describe("before its program has started", () => {
  test("a container ended for its memory uses up the program's budget, and the job fails when that is spent", () => {
    const scenario = new Scenario({
      ...base,
      failure: { ...base.failure, budgets: { program: 1, infrastructure: 5 } },
    });
    scenario.register();
    scenario.allocateAll();
    const end = (containerId: string) => {
      scenario.ready("worker:1");
      scenario.on({ type: "executor-lost", task: "worker:1", containerId, cause: "goodbye" });
      scenario.completes(containerId, -103);
    };
    end("c2");
    expect(scenario.job).toMatchObject({ outcome: undefined });
    expect(scenario.used).toMatchObject({ program: 1, infrastructure: 0 });
    scenario.allocateAll();
    end("c3");
    expect(scenario.core.state.outcome).toMatchObject({
      summary: expect.stringContaining("program restarts: 1 of 1 used (tony.am.retry-count = 1"),
      cause: { remedy: expect.stringContaining("tony.worker.memory") },
    });
  });
});

describe("the consequences of our own teardown are no cause", () => {
  test("a program that does not stop in time leaves the root cause and the machines as they were", () => {
    const scenario = running();
    scenario.exits("worker:1", { exitCode: 1, errorSummary: "ValueError" });
    scenario.after(base.timeouts.stopGraceMs + 5_000);
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1", class: "program" });
    expect(scenario.job).toMatchObject({ blame: {} });
    expect(scenario.used).toMatchObject({ program: 1, infrastructure: 0 });
  });

  test("except where its executor is not heard either, because that came first", () => {
    const scenario = running();
    scenario.silent("worker:0", 3_000);
    scenario.exits("worker:1", { exitCode: 1, peerConnectionLost: true });
    scenario.after(base.timeouts.stopGraceMs + 5_000);
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:0", class: "infrastructure" });
  });

  test("a container that ends after its program stopped by our order is replaced and changes no verdict", () => {
    const scenario = running({ budgets: { program: 5, infrastructure: 5 } });
    scenario.exits("worker:1", { exitCode: 1, errorSummary: "ValueError" });
    scenario.stops("worker:0");
    scenario.on({ type: "executor-lost", task: "worker:0", containerId: "c1", cause: "goodbye" });
    scenario.completes("c1", 143);
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1", class: "program" });
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });
});

test("an executor that stops its program for the time it took spends the program's budget", () => {
  const scenario = new Scenario({ ...base, timeouts: { ...base.timeouts, executionMs: 60_000 } });
  scenario.toRunning();
  const stopReason = { code: "ran-too-long", limitMs: 60_000 } as const;
  expect(sentOf(scenario.exits("worker:1", { signal: "SIGTERM", stopReason }), "stop-child")).toEqual(["worker:0"]);
  expect(scenario.job).toMatchObject({ blame: {} });
  expect(scenario.used).toMatchObject({ program: 1, infrastructure: 0 });
});

test("a program that ran too long is reported with the place of its limit", () => {
  const key = "tony.task.executor.execution-timeout-ms";
  const limited = {
    timeouts: { ...base.timeouts, executionMs: 60_000 },
    sources: { ...base.sources, [key]: "job.xml:12" },
  };
  const scenario = new Scenario({ ...base, ...limited });
  scenario.toRunning();
  scenario.exits("worker:1", { signal: "SIGTERM", stopReason: { code: "ran-too-long", limitMs: 60_000 } });
  scenario.stops("worker:0");
  expect(scenario.gang.generations[0]?.endedBy).toMatchObject({
    summary: `worker:1 on n2 ran longer than 60 s (${key}, job.xml:12)`,
  });
});

test("a task that restarts alone is judged once for running too long: by its executor's report or, without one, by its container's end", () => {
  const failure = { ...base.failure, budgets: { program: 5, infrastructure: 5 } };
  const timeouts = { ...base.timeouts, executionMs: 60_000 };
  const alone = () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { restartPolicy: "task" })], { failure, timeouts }));
    scenario.toRunning();
    return scenario;
  };
  const obeyed = alone();
  obeyed.after(60_000);
  expect(obeyed.used).toEqual({ program: 0, infrastructure: 0 });
  const stopReason = { code: "ran-too-long", limitMs: 60_000 } as const;
  obeyed.exits("worker:1", { signal: "SIGTERM", stopReason });
  expect(obeyed.used).toEqual({ program: 1, infrastructure: 0 });
  expect(obeyed.task("worker:1")).toMatchObject({ phase: "preparing", restarts: 1 });

  const ignored = alone();
  ignored.exits("worker:0");
  ignored.after(60_000 + stopWithinMs(timeouts));
  expect(ignored.used).toEqual({ program: 1, infrastructure: 0 });
  expect(ignored.task("worker:1")).toMatchObject({ phase: "waiting", restarts: 1 });
});

test("a node that YARN took the containers from because it is not well: what it says of itself is the reason", () => {
  const scenario = running();
  const healthReport = "1/1 local-dirs usable space is below configured utilization percentage";
  const node = { nodeId: "n2:8041", host: "n2", rack: "/default-rack", usable: false, healthReport, labels: [] };
  scenario.on({ type: "nodes-changed", nodes: [node] });
  scenario.completes("c2", -100);
  scenario.stops("worker:0");
  expect(scenario.gang.generations[0]?.endedBy).toMatchObject({
    class: "infrastructure",
    summary: `worker:1 lost its node on n2: ${healthReport}`,
  });
});

test("the job's end names the rule that ended it: machines that failed one task too often, not a budget", () => {
  const scenario = running({ blame: { container: 9, node: 9, job: 1 } });
  scenario.completes("c2", -101);
  scenario.stops("worker:0");
  expect(scenario.core.state.outcome?.summary).toBe(
    "worker:1 lost its container: the node's disks failed on n2; a machine failed worker:1, which ends the job: tony.failure.blame.job",
  );
});

test("which of two exits came first is not decided by a machine's wrong clock", () => {
  const scenario = running();
  const exit = { exitCode: 1, errorSummary: "first" };
  scenario.exits("worker:1", exit);
  scenario.after(4_000);
  scenario.exits("worker:0", { exitCode: 1, errorSummary: "second", atMs: scenario.nowMs - 3_600_000 });
  expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1" });
});
