import { describe, expect, test } from "@jest/globals";
import type { Effect, ExecutorCommand } from "../../../../am/core/state/effects.ts";
import { waitsOf } from "../../../../am/core/status/waits.ts";
import type { JobSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { childExit } from "../../../support/child-exit.ts";
import { asksOf, Scenario, sentOf } from "../scenario.ts";

const base = jobSpec([role("worker", 4, { minInstances: 2 })]);
const restMs = base.timeouts.gangRestMs;
const withBudget = (program: number): Partial<JobSpec> => ({
  failure: { ...base.failure, budgets: { program, infrastructure: 5 } },
});

/** So many workers have containers and are ready. */
function gathered(count: number, spec = base): Scenario {
  const scenario = new Scenario(spec);
  scenario.register();
  give(scenario, count);
  return scenario;
}

function give(scenario: Scenario, count: number): void {
  const containers = Array.from({ length: count }, () => scenario.container(1));
  scenario.on({ type: "containers-allocated", containers });
  scenario.readyAll();
}

/** So many workers run, the others have no container. */
function running(count: number, spec = base): Scenario {
  const scenario = gathered(count, spec);
  scenario.after(restMs);
  scenario.startedAll();
  return scenario;
}

type Start = Extract<ExecutorCommand, { type: "start-child" }>;

function startsIn(effects: readonly Effect[]): Start[] {
  return effects.flatMap((effect) =>
    effect.type === "send" && effect.message.type === "start-child" ? [effect.message] : [],
  );
}

const CLOSED = { exitCode: 1, missedMeeting: "closed" } as const;

describe("a gang that may be smaller", () => {
  test("starts at once when all tasks are there", () => {
    expect(gathered(4).phases()).toBe("worker:0 starting, worker:1 starting, worker:2 starting, worker:3 starting");
  });

  test("waits for the rest at each start as long as at the first one", () => {
    const scenario = running(3);
    scenario.exits("worker:0", { exitCode: 1 });
    for (const task of ["worker:1", "worker:2"]) scenario.stops(task);
    scenario.readyAll();
    expect(scenario.phases()).toBe("worker:0 registered, worker:1 registered, worker:2 registered, worker:3 waiting");
    expect(startsIn(scenario.after(restMs - 1))).toEqual([]);
    expect(startsIn(scenario.after(1))).toHaveLength(3);
  });

  test("tells one that had begun again alone why all of them do, and not what it was told then", () => {
    const scenario = running(4);
    scenario.completes(scenario.task("worker:3").containerId, -100);
    give(scenario, 1);
    scenario.startedAll();
    expect(startsIn(scenario.effects).at(-1)?.restartReason).toMatch(/^worker:3 lost its node/);
    scenario.exits("worker:0", { exitCode: 1, errorSummary: "ValueError" });
    for (const task of ["worker:1", "worker:2", "worker:3"]) scenario.stops(task);
    scenario.readyAll();
    const reasons = startsIn(scenario.after(base.failure.backOff.maxMs)).map(({ restartReason }) => restartReason);
    expect(reasons).toEqual(Array(4).fill("worker:0 exited 1 on n1: ValueError"));
  });

  test("starts with fewer when no more have come for a while, and each task that comes later joins the others' generation", () => {
    const scenario = gathered(3);
    expect(startsIn(scenario.after(restMs - 1))).toEqual([]);
    const start = scenario.after(1);
    expect(sentOf(start, "start-child")).toEqual(["worker:0", "worker:1", "worker:2"]);
    expect(startsIn(start)[0]?.clusterSpec.tasks).toHaveLength(3);
    expect(scenario.job.phase).toBe("running");

    scenario.startedAll();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    const late = scenario.ready("worker:3");
    expect(sentOf(late, "start-child")).toEqual(["worker:3"]);
    expect(startsIn(late)).toMatchObject([{ generation: 1, restarts: 0, clusterSpec: { gangGeneration: 1 } }]);
    expect(scenario.job.generation).toBe(1);
  });

  test("tells a task that comes later the latest checkpoint, not the one that the others began with", () => {
    const scenario = running(3);
    const { containerId, generation } = scenario.task("worker:0");
    const checkpoint = { path: "hdfs:///ckpt/40", step: 40, atMs: scenario.nowMs };
    const at = { step: 40, atMs: scenario.nowMs, checkpoint };
    scenario.on({ type: "child-progress", task: "worker:0", containerId, generation, ...at });
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    expect(startsIn(scenario.ready("worker:3"))).toMatchObject([{ checkpoint: "hdfs:///ckpt/40" }]);
  });

  test("does not start with fewer than it needs", () => {
    const scenario = gathered(1);
    expect(sentOf(scenario.after(10 * restMs), "start-child")).toEqual([]);
  });

  test("does not start without the first task, where the others meet", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [1, 2, 3].map(() => scenario.container(1)) });
    scenario.ready("worker:1");
    scenario.ready("worker:2");
    expect(sentOf(scenario.after(2 * restMs), "start-child")).toEqual([]);
    scenario.ready("worker:0");
    expect(sentOf(scenario.after(restMs), "start-child")).toHaveLength(3);
  });

  test("gives nothing back as long as it holds enough to start", () => {
    const patient = { timeouts: { ...base.timeouts, gangRestMs: 3_600_000 } };
    const scenario = gathered(2, { ...base, ...patient });
    scenario.after(base.timeouts.gangHoldMs * 2);
    expect(scenario.phases()).toBe("worker:0 registered, worker:1 registered, worker:2 waiting, worker:3 waiting");
  });

  test("is not failed by tony.container.allocation.timeout when it has enough", () => {
    const scenario = gathered(2, { ...base, timeouts: { ...base.timeouts, allocationMs: restMs / 2 } });
    scenario.after(restMs);
    expect(scenario.job).toMatchObject({ phase: "running" });
  });

  test("says what it waits for, before its start and while it runs", () => {
    const scenario = gathered(3);
    scenario.after(1_000);
    expect(waitsOf(scenario.core, scenario.nowMs).map(({ what }) => what)).toContain(
      "the rest of the gang, which has enough tasks to start",
    );
    scenario.after(restMs);
    scenario.startedAll();
    expect(waitsOf(scenario.core, scenario.nowMs).map(({ what }) => what)).toEqual([
      "a container for worker:3: worker runs with 3 of 4, which may be as few as 2",
    ]);
  });
});

describe("a task of a role that may be smaller", () => {
  test("that has lost its container gets another one alone and joins the others; the infrastructure pays", () => {
    const scenario = running(4);
    scenario.vanishes("worker:2");
    expect(scenario.phases()).toBe("worker:0 running, worker:1 running, worker:2 waiting, worker:3 running");
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
    give(scenario, 1);
    const start = startsIn(scenario.effects).at(-1);
    expect(start).toMatchObject({ generation: 2, clusterSpec: { generation: 2, gangGeneration: 1 } });
    expect(scenario.task("worker:2")).toMatchObject({ restarts: 1, phase: "starting" });
  });

  test("is shown as waiting for a container since it lost the one it had", () => {
    const scenario = running(4);
    scenario.after(600_000);
    const lostAtMs = scenario.nowMs;
    scenario.vanishes("worker:2");
    scenario.after(1_000);
    const [wait] = waitsOf(scenario.core, scenario.nowMs);
    expect(wait?.sinceMs).toBe(lostAtMs);
  });

  test("lets the gang go on even where fewer tasks than needed are left: they wait for each other", () => {
    const scenario = running(2);
    const effects = scenario.vanishes("worker:1");
    expect(sentOf(effects, "stop-child")).toEqual([]);
    expect(scenario.phases()).toMatch(/^worker:0 running, worker:1 waiting,/);
  });

  test("that is the first one takes the others' meeting point along, and the gang starts again in place", () => {
    const scenario = running(3);
    expect(sentOf(scenario.vanishes("worker:0"), "stop-child")).toEqual(["worker:1", "worker:2"]);
    scenario.stops("worker:1");
    scenario.stops("worker:2");
    give(scenario, 1);
    scenario.after(restMs);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 2 });
    expect(scenario.phases()).toBe("worker:0 starting, worker:1 starting, worker:2 starting, worker:3 waiting");
  });

  test("that was preempted starts again alone, and nobody pays", () => {
    const scenario = running(4);
    scenario.completes(scenario.task("worker:3").containerId, -102);
    expect(scenario.phases()).toBe("worker:0 running, worker:1 running, worker:2 running, worker:3 waiting");
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("that exits by itself has given up for all: the gang starts again, and the program pays", () => {
    const scenario = running(4, { ...base, ...withBudget(1) });
    expect(sentOf(scenario.exits("worker:3", { exitCode: 1 }), "stop-child")).toEqual([
      "worker:0",
      "worker:1",
      "worker:2",
    ]);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });

  test("that had joined late and exits by itself ends the others' generation", () => {
    const scenario = running(3, { ...base, ...withBudget(1) });
    scenario.vanishes("worker:2");
    give(scenario, 2);
    scenario.startedAll();
    scenario.exits("worker:2", { exitCode: 1 });
    expect(scenario.gang.generations[0]).toMatchObject({ generation: 1, endedBy: { task: "worker:2" } });
    expect(scenario.job.phase).toBe("restarting");
  });

  test("that had joined late is one of those that start together in the next generation", () => {
    const scenario = running(3, { ...base, ...withBudget(1) });
    give(scenario, 1);
    scenario.startedAll();
    scenario.vanishes("worker:0");
    for (const task of ["worker:1", "worker:2", "worker:3"]) scenario.stops(task);
    give(scenario, 1);
    scenario.startedAll();
    expect(scenario.job).toMatchObject({ phase: "running", generation: 2 });
    scenario.exits("worker:3", CLOSED);
    expect(scenario.used.program).toBe(1);
  });

  test("that had joined late and was preempted after another's end counts for the others' generation when YARN reports it later", () => {
    const scenario = running(3);
    scenario.vanishes("worker:2");
    give(scenario, 2);
    scenario.startedAll();
    const { containerId } = scenario.task("worker:2");
    scenario.exits("worker:1");
    scenario.vanishes("worker:2");
    expect(scenario.job.phase).toBe("restarting");
    const { infrastructure } = scenario.used;
    scenario.completes(containerId, -102);
    expect(scenario.used.infrastructure).toBe(infrastructure - 1);
  });

  test("whose node leaves moves when its checkpoint is complete, and the others go on", () => {
    const scenario = running(4);
    const node = { nodeId: "n2:45454", host: "n2", rack: "/r", usable: true, labels: [], free: base.am.resource };
    scenario.on({ type: "nodes-changed", nodes: [{ ...node, usable: false, decommissioning: { timeoutMs: 60_000 } }] });
    expect(sentOf(scenario.after(60_000), "stop-child")).toEqual(["worker:1"]);
    scenario.exits("worker:1", { signal: "SIGTERM", stopReason: { code: "node-leaves", step: 0 } });
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });
});

describe("a program of an elastic Horovod that exits by itself", () => {
  const horovod: JobSpec = { ...base, ...withBudget(1), framework: "horovod", outlivesExits: true };

  test("starts again alone, in its container: the others go on, and the program pays", () => {
    const scenario = running(4, horovod);
    const effects = scenario.exits("worker:3", { exitCode: 1 });
    expect(sentOf(effects, "stop-child")).toEqual([]);
    expect(sentOf([...effects, ...scenario.after(base.timeouts.verdictMs)], "prepare")).toEqual(["worker:3"]);
    expect(scenario.phases()).toMatch(/^worker:0 running, worker:1 running, worker:2 running, worker:3 /);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
  });

  test("takes the gang along where it had lost a peer, without which it cannot go on", () => {
    const scenario = running(4, horovod);
    const effects = scenario.exits("worker:3", { exitCode: 1, peerConnectionLost: true });
    expect(sentOf(effects, "stop-child")).toEqual(["worker:0", "worker:1", "worker:2"]);
  });

  test("restarts the gang where it is the first one, at which the others meet", () => {
    const scenario = running(4, horovod);
    expect(sentOf(scenario.exits("worker:0", { exitCode: 1 }), "stop-child")).toHaveLength(3);
  });

  test.each(["closed", "empty"] as const)(
    "came too late when the others are done and their meeting is %s",
    (missedMeeting) => {
      const scenario = running(3, horovod);
      give(scenario, 1);
      scenario.startedAll();
      scenario.exits("worker:0");
      scenario.exits("worker:3", { exitCode: 1, missedMeeting, peerConnectionLost: true });
      expect(scenario.task("worker:3").phase).toBe("stopped");
      expect(scenario.job.phase).toBe("running");
    },
  );
});

describe("the end of a gang that may be smaller", () => {
  test("does not wait for a task without a container, whose request is withdrawn", () => {
    const scenario = running(3);
    const effects = ["worker:2", "worker:1", "worker:0"].flatMap((task) => scenario.exits(task));
    expect(asksOf(effects)).toMatchObject([{ role: "worker", count: 0 }]);
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary: "3 of 4 tasks exited 0" });
  });

  test("starts nobody once a program has exited 0: containers go back", () => {
    const scenario = running(3);
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    const effects = scenario.exits("worker:1");
    expect(effects).toContainEqual({ type: "release", containerIds: ["c4"], reason: "the others are done" });
    expect(scenario.phases()).toBe("worker:0 running, worker:1 succeeded, worker:2 running, worker:3 stopped");
    scenario.exits("worker:0");
    scenario.exits("worker:2");
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded" });
  });

  test("is that of its role alone: what lives on its own beside it starts again", () => {
    const roles = [role("worker", 4, { minInstances: 2 }), role("ps", 1, { restartPolicy: "task" })];
    const scenario = new Scenario(jobSpec(roles));
    scenario.toRunning();
    scenario.exits("ps:0", { exitCode: 1 });
    scenario.exits("worker:1");
    expect(scenario.task("ps:0").phase).toBe("preparing");
  });

  test("starts nobody whom the cluster spec had not reached before", () => {
    const scenario = gathered(4);
    scenario.breaks("worker:3");
    scenario.exits("worker:1");
    const effects = scenario.reports("worker:3", { state: "none" });
    expect(sentOf(effects, "start-child")).toEqual([]);
    expect(effects).toContainEqual({ type: "release", containerIds: ["c4"], reason: "the others are done" });
    expect(scenario.phases()).toBe("worker:0 starting, worker:1 succeeded, worker:2 starting, worker:3 stopped");
  });

  test("is no failure of a task that came just too late to join", () => {
    const scenario = running(3);
    give(scenario, 1);
    scenario.startedAll();
    // Who closes the meeting is heard after who finds it closed.
    scenario.exits("worker:3", CLOSED);
    expect(scenario.task("worker:3").phase).toBe("stopped");
    for (const task of ["worker:0", "worker:1", "worker:2"]) scenario.exits(task);
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded" });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("is a failure of a task that had started with the others", () => {
    const scenario = running(4);
    scenario.exits("worker:3", CLOSED);
    scenario.after(base.timeouts.verdictMs);
    expect(scenario.used.program).toBe(1);
  });

  test("makes the gang start again when a task is lost after another has exited 0, because nobody can join it any more", () => {
    const scenario = running(3);
    scenario.exits("worker:1");
    scenario.vanishes("worker:2");
    expect(scenario.job.phase).toBe("restarting");
  });
});

describe("the ApplicationMaster of a gang that may be smaller dies", () => {
  const program = { state: "running", pid: 7, startedAtMs: 1_000_000 } as const;

  test("while it waits for the rest: the next attempt goes on waiting, and starts with the tasks that are there", () => {
    const scenario = gathered(2);
    const kept = [1, 2].map((number) => ({ ...scenario.container(1), containerId: `c${number}`, host: `n${number}` }));
    scenario.after(2_000);
    scenario.crash(kept);
    scenario.ready("worker:0");
    scenario.ready("worker:1");
    expect(sentOf(scenario.after(2 * restMs + 60_000), "start-child")).toEqual(["worker:0", "worker:1"]);
  });

  test("while some run: they run on, and the others are asked for and join them", () => {
    const scenario = running(2);
    scenario.after(2_000);
    scenario.crash([]);
    scenario.reports("worker:0", program);
    scenario.reports("worker:1", program);
    give(scenario, 2);
    expect(scenario.phases()).toBe("worker:0 running, worker:1 running, worker:2 starting, worker:3 starting");
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1, attempt: 2 });
  });

  test("while the cluster spec is sent to those that are there: they run on", () => {
    const scenario = gathered(2);
    scenario.after(restMs / 2);
    scenario.journalAnswers = false;
    const journaled = scenario.after(restMs).find(({ type }) => type === "journal");
    expect(journaled).toBeDefined();
    scenario.journal = journaled?.type === "journal" ? JSON.parse(journaled.snapshot) : undefined;
    scenario.journalAnswers = true;
    scenario.crash([]);
    scenario.reports("worker:0", program);
    scenario.reports("worker:1", program);
    expect(scenario.phases()).toMatch(/^worker:0 running, worker:1 running,/);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });

  test("and a task that had just joined is not heard: the gang starts again only when that task's program is known to be gone", () => {
    const scenario = running(3, { ...base, ...withBudget(1) });
    scenario.after(2_000);
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    // The order to start goes out with this snapshot, and no later one says so.
    scenario.ready("worker:3");
    scenario.crash([]);
    for (const task of ["worker:1", "worker:2"]) scenario.reports(task, program);
    const exit = childExit(scenario.nowMs, { exitCode: 1 });
    scenario.reports("worker:0", { state: "exited", exit });
    scenario.stops("worker:1");
    scenario.stops("worker:2");
    for (const task of ["worker:0", "worker:1", "worker:2"]) scenario.ready(task);
    expect(sentOf(scenario.after(restMs), "start-child")).toEqual([]);
    scenario.reports("worker:3", program, { generation: 1 });
    expect(scenario.task("worker:3").phase).toBe("preparing");
    expect(sentOf(scenario.ready("worker:3"), "start-child")).toHaveLength(4);
  });
});
