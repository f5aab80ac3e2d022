import { describe, expect, test } from "@jest/globals";
import { waitsOf } from "../../../../am/core/status/waits.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { idleNode, Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);
const NO_BUDGETS = { ...base.failure, budgets: { program: 0, infrastructure: 0 } };

function waits(scenario: Scenario) {
  return waitsOf(scenario.core, scenario.nowMs);
}

/** The only wait for such a thing. */
function waitFor(scenario: Scenario, code: string) {
  const found = waits(scenario).filter(({ reason }) => reason.code === code);
  expect(found).toHaveLength(1);
  return found[0];
}

test("a job that is not registered yet waits for that from its start", () => {
  const scenario = new Scenario(base);
  const startedAtMs = scenario.nowMs;
  scenario.after(2_000);
  expect(waits(scenario)).toMatchObject([{ reason: { code: "registration" }, sinceMs: startedAtMs }]);
});

test("a stage waits for the one before it, from the start of the job, until its turn comes", () => {
  const scenario = new Scenario(jobSpec([role("prep", 1), role("worker", 1, { dependsOn: ["prep"] })]));
  const startedAtMs = scenario.nowMs;
  scenario.toRunning();
  scenario.after(5_000);
  expect(waits(scenario)).toMatchObject([
    {
      reason: { code: "stage", roles: ["worker"] },
      delays: [{ code: "stage-before", roles: ["prep"] }],
      sinceMs: startedAtMs,
    },
  ]);
  scenario.exits("prep:0");
  expect(waits(scenario).map(({ reason }) => reason.code)).toEqual(["executors"]);
});

test("executors are awaited from the first container on, until the first of their times is up", () => {
  const scenario = new Scenario(base);
  scenario.register();
  const firstAtMs = scenario.nowMs;
  scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
  scenario.after(5_000);
  scenario.on({ type: "launch-succeeded", containerId: "c1" });
  scenario.allocateAll();
  expect(waitFor(scenario, "executors")).toMatchObject({
    reason: { role: "worker", tasks: ["worker:0", "worker:1"] },
    delays: [{ code: "files-on-their-way" }],
    sinceMs: firstAtMs,
    endsAtMs: firstAtMs + base.timeouts.launchMs,
  });
});

test("a gang in part says what it holds meanwhile, and what that has cost since its containers came", () => {
  const scenario = new Scenario(jobSpec([role("worker", 3), role("scorer", 1, { dependsOn: ["worker"] })]));
  scenario.register();
  scenario.after(1_000);
  scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
  scenario.after(10_000);
  scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
  scenario.after(10_000);
  expect(waitFor(scenario, "gang")).toMatchObject({
    delays: [
      {
        ...{ code: "held-meanwhile", containers: 2, amount: "2 GiB, 2 cores" },
        ...{ memoryMiBSeconds: 30_720, contended: false },
      },
    ],
  });
});

test("a gang that may be smaller waits for the rest, and once it runs for those that may join it", () => {
  const scenario = new Scenario(jobSpec([role("worker", 4, { minInstances: 2 })]));
  scenario.register();
  scenario.on({ type: "containers-allocated", containers: [scenario.container(1), scenario.container(1)] });
  scenario.readyAll();
  const sinceMs = scenario.nowMs;
  const { gangRestMs } = base.timeouts;
  scenario.after(gangRestMs - 1);
  expect(waitFor(scenario, "rest")).toMatchObject({ sinceMs, endsAtMs: sinceMs + gangRestMs });
  scenario.after(1);
  scenario.startedAll();
  const joiners = { tasks: ["worker:2", "worker:3"], running: 2, instances: 4, least: 2 };
  expect(waits(scenario).map(({ reason }) => reason)).toEqual([{ code: "joiners", role: "worker", ...joiners }]);
});

test("a journal that cannot be written holds a start back, and says what is wrong and who can mend it", () => {
  const scenario = new Scenario(base);
  scenario.journalWorks = false;
  scenario.register();
  scenario.allocateAll();
  scenario.readyAll();
  expect(waitFor(scenario, "journal")).toMatchObject({
    delays: [{ code: "journal-failed", message: "safe mode" }],
    fix: { code: "mend-hdfs" },
  });
});

test("programs of several nodes that leave are awaited from the first notice, until the first node goes", () => {
  const scenario = new Scenario(base);
  scenario.toRunning();
  const leaves = (host: string, timeoutMs: number) =>
    scenario.on({
      type: "nodes-changed",
      nodes: [{ ...idleNode(host), usable: false, decommissioning: { timeoutMs } }],
    });
  const sinceMs = scenario.nowMs;
  leaves("n1", 900_000);
  scenario.after(1_000);
  leaves("n2", 600_000);
  const endsAtMs = scenario.nowMs + 600_000 - base.timeouts.stopGraceMs - 5_000;
  expect(waits(scenario)).toMatchObject([
    {
      reason: { code: "departure", tasks: ["worker:0", "worker:1"] },
      delays: [{ code: "checkpoint-awaited", hosts: ["n1", "n2"] }],
      ...{ sinceMs, endsAtMs },
    },
  ]);
});

describe("after a failure", () => {
  test("that ends the job, the tasks that are not accounted for are counted", () => {
    const scenario = new Scenario({ ...jobSpec([role("worker", 3)]), failure: NO_BUDGETS });
    scenario.toRunning();
    scenario.after(1_000);
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    expect(waitFor(scenario, "verdict")).toMatchObject({
      delays: [{ code: "tasks-unaccounted", tasks: 2 }],
      sinceMs: scenario.nowMs,
      endsAtMs: scenario.nowMs + base.timeouts.verdictMs,
    });
  });

  test("that does not, no verdict is awaited, but the programs that stop, and how long they may", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    scenario.after(1_000);
    scenario.exits("worker:0", { exitCode: 1 });
    const failedAtMs = scenario.nowMs;
    scenario.after(1_000);
    expect(waits(scenario)).toMatchObject([
      {
        reason: { code: "programs", role: "worker", tasks: ["worker:1"] },
        delays: [{ code: "time-to-stop", graceMs: base.timeouts.stopGraceMs }],
        sinceMs: failedAtMs,
      },
    ]);
  });
});

test("a gang that failed twice waits longer before it starts again, and says how often it was restarted and why", () => {
  const scenario = new Scenario(base);
  scenario.toRunning();
  for (let time = 0; time < 2; time++) {
    scenario.readyAll();
    scenario.startedAll();
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.stops("worker:1");
  }
  const sinceMs = scenario.nowMs;
  scenario.readyAll();
  expect(waits(scenario)).toMatchObject([
    {
      reason: { code: "pause-of-restart" },
      delays: [{ code: "restarts", times: 2, why: "worker:0 exited 1 on n1" }],
      ...{ sinceMs, endsAtMs: sinceMs + base.failure.backOff.initialMs },
    },
  ]);
});

test("a job that ends waits for its outcome to be written, its programs and the ResourceManager, in that order", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1), role("ps", 1, { tracking: "untracked" })]));
  scenario.toRunning();
  scenario.after(1_000);
  scenario.journalAnswers = false;
  scenario.exits("worker:0");
  const endedAtMs = scenario.nowMs;
  const order = waits(scenario);
  scenario.after(100);
  const { sequence } = scenario.core.state.journal;
  scenario.on({ type: "journal-written", sequence });
  order.push(...waits(scenario));
  scenario.stops("ps:0");
  order.push(...waits(scenario));
  scenario.on({ type: "unregistered", isPutDown: true });
  order.push(...waits(scenario));
  expect(order).toMatchObject([
    { reason: { code: "outcome-journal" }, sinceMs: endedAtMs },
    { reason: { code: "programs-end", uploads: false }, sinceMs: endedAtMs + 100 },
    { reason: { code: "unregistration" }, sinceMs: endedAtMs + 100 },
  ]);
});
