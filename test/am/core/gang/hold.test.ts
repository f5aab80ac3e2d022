import { describe, expect, test } from "@jest/globals";
import type { NodeView } from "../../../../am/core/state/events.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, Scenario } from "../scenario.ts";

const spec = jobSpec([role("worker", 2)]);

/** A gang that gets one container, holds it too long and gives it back, so many times: how long it paused each time. */
function pausesOf(applicationId: string, returns: number): number[] {
  const scenario = new Scenario(spec, applicationId);
  scenario.register();
  return Array.from({ length: returns }, () => {
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
    scenario.after(spec.timeouts.gangHoldMs);
    const pauseMs = scenario.gang.hold.askAgainAtMs - scenario.nowMs;
    scenario.after(pauseMs);
    return pauseMs;
  });
}

/** Containers that its tasks hold. */
function heldBy(scenario: Scenario): string[] {
  return scenario.core.state.tasks.flatMap(({ containerId }) => (containerId === "" ? [] : [containerId]));
}

describe("the hold of a gang in part", () => {
  const gangHoldMs = 60_000;
  const large = jobSpec([role("worker", 4)], { timeouts: { ...spec.timeouts, gangHoldMs } });

  test("counts from the last container that came, so that a gang that still grows gives nothing back", () => {
    const scenario = new Scenario(large);
    scenario.register();
    for (let given = 1; given <= 3; given++) {
      scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
      scenario.ready(`worker:${given - 1}`);
      scenario.after(gangHoldMs - 1);
    }
    expect(heldBy(scenario)).toEqual(["c1", "c2", "c3"]);
    scenario.after(1);
    expect(heldBy(scenario)).toEqual([]);
  });

  test("counts anew where the gang had started meanwhile", () => {
    const scenario = new Scenario(large);
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.after(30_000);
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    scenario.after(10_000);
    scenario.completes(scenario.task("worker:3").containerId, -102);
    for (const task of ["worker:0", "worker:1", "worker:2"]) scenario.stops(task);
    scenario.readyAll();
    scenario.after(gangHoldMs - 1);
    expect(heldBy(scenario)).toHaveLength(3);
    scenario.after(1);
    expect(heldBy(scenario)).toEqual([]);
  });

  test("counts for containers in which executors start or get ready, too", () => {
    const short = jobSpec([role("worker", 4)], { timeouts: { ...spec.timeouts, gangHoldMs: 20_000 } });
    const scenario = new Scenario(short);
    scenario.toRunning();
    scenario.exits("worker:0", { exitCode: 1 });
    for (const task of ["worker:1", "worker:2", "worker:3"]) {
      scenario.completes(scenario.task(task).containerId, -102);
    }
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    expect(scenario.phases()).toBe("worker:0 preparing, worker:1 allocated, worker:2 waiting, worker:3 waiting");
    scenario.after(20_000);
    expect(heldBy(scenario)).toEqual([]);
  });

  test("is none of a gang that has nothing, or has all that it needs", () => {
    const scenario = new Scenario(large);
    scenario.register();
    expect(asksOf(scenario.after(10 * gangHoldMs))).toEqual([]);
    expect(scenario.gang.hold.askAgainAtMs).toBe(0);
    scenario.allocateAll();
    scenario.after(gangHoldMs);
    expect(heldBy(scenario)).toHaveLength(4);
  });

  test("lets registered containers stay as long again, where others can be given back first", () => {
    const scenario = new Scenario(large);
    scenario.register();
    scenario.on({
      type: "containers-allocated",
      containers: [scenario.container(1), scenario.container(1), scenario.container(1)],
    });
    scenario.ready("worker:0");
    scenario.ready("worker:1");
    scenario.after(gangHoldMs);
    expect(heldBy(scenario)).toEqual(["c1", "c2"]);
    scenario.after(scenario.gang.hold.askAgainAtMs - scenario.nowMs);
    scenario.after(gangHoldMs - 1);
    expect(heldBy(scenario)).toEqual(["c1", "c2"]);
    scenario.after(1);
    expect(heldBy(scenario)).toEqual([]);
  });
});

test("a gang that has started pauses as briefly as at first when it is in part again", () => {
  const scenario = new Scenario(spec);
  scenario.register();
  const returnOnce = (): number => {
    scenario.after(spec.timeouts.gangHoldMs);
    const pauseMs = scenario.gang.hold.askAgainAtMs - scenario.nowMs;
    scenario.after(pauseMs);
    return pauseMs;
  };
  const give = () => {
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
  };
  give();
  const first = returnOnce();
  give();
  expect(returnOnce()).toBeGreaterThan(first);
  scenario.allocateAll();
  scenario.readyAll();
  scenario.startedAll();
  scenario.completes(scenario.task("worker:1").containerId, -102);
  scenario.stops("worker:0");
  scenario.readyAll();
  expect(scenario.phases()).toBe("worker:0 registered, worker:1 waiting");
  expect(returnOnce()).toBe(first);
});

describe("what a gang in part holds", () => {
  const gangHoldMs = 120_000;
  const large = jobSpec([role("worker", 4)], { timeouts: { ...spec.timeouts, gangHoldMs } });
  const heldWords = (scenario: Scenario) =>
    statusOf(scenario.core, scenario.nowMs).waits.find(({ reason }) => reason.code === "gang")?.reasons;

  function holdingTwo(): Scenario {
    const scenario = new Scenario(large);
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1), scenario.container(1)] });
    return scenario;
  }

  const told = (scenario: Scenario) =>
    scenario.effects.flatMap((effect) =>
      effect.type === "log" && effect.event === "gang-returned" ? [effect.message] : [],
    );

  test("goes back with words of how many, after how long, and when they are asked for again", () => {
    const scenario = holdingTwo();
    scenario.after(gangHoldMs);
    expect(told(scenario)).toEqual([
      expect.stringMatching(
        /^The gang is not complete and got no further container for 2 min \(tony\.container\.hold-timeout\): 2 containers will be given back and asked for again in \d+ s\.$/,
      ),
    ]);
  });

  test("goes back in part where some of it is registered, which is told as well", () => {
    const scenario = holdingTwo();
    scenario.ready("worker:0");
    scenario.after(gangHoldMs);
    expect(told(scenario)).toEqual([expect.stringContaining(": 1 of its 2 containers will be given back")]);
    expect(heldBy(scenario)).toEqual(["c1"]);
  });

  test("is none of what lives on its own, which waits for nobody", () => {
    const spec = jobSpec([role("worker", 2), role("ps", 1, { restartPolicy: "task" })]);
    const scenario = new Scenario(spec);
    scenario.toRunning();
    scenario.exits("ps:0", { exitCode: 1 });
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.completes(scenario.task("worker:0").containerId, -100);
    scenario.completes(scenario.task("worker:1").containerId, -100);
    expect(scenario.phases()).toBe("worker:0 waiting, worker:1 waiting, ps:0 preparing");
    scenario.after(spec.timeouts.gangHoldMs);
    expect(told(scenario)).toEqual([]);
  });

  test("is not what a task holds that lives on its own", () => {
    const roles = [role("worker", 2), role("ps", 1, { restartPolicy: "task" })];
    const scenario = new Scenario(jobSpec(roles, { timeouts: { ...spec.timeouts, gangHoldMs: 20_000 } }));
    scenario.toRunning();
    scenario.completes(scenario.task("worker:1").containerId, -102);
    scenario.stops("worker:0");
    scenario.ready("worker:0");
    scenario.after(10_000);
    scenario.exits("ps:0", { exitCode: 1 });
    expect(scenario.phases()).toBe("worker:0 registered, worker:1 waiting, ps:0 preparing");
    scenario.after(10_000);
    expect(heldBy(scenario)).toEqual(["c3"]);
    expect(told(scenario)).toEqual([expect.stringContaining(": 1 container will be given back")]);
  });

  test("is asked for again after the pause, which is shown", () => {
    const scenario = holdingTwo();
    expect(scenario.after(gangHoldMs)).toContainEqual(
      expect.objectContaining({ level: "warn", event: "gang-returned", fields: { containers: 2 } }),
    );
    const pauseMs = scenario.gang.hold.askAgainAtMs - scenario.nowMs;
    expect(asksOf(scenario.after(pauseMs - 1))).toEqual([]);
    const effects = scenario.after(1);
    expect(asksOf(effects)).toMatchObject([{ role: "worker", count: 4 }]);
    expect(effects).toContainEqual({ type: "publish-status" });
  });

  test("is shown with what it costs", () => {
    const scenario = holdingTwo();
    scenario.after(90_000);
    expect(heldWords(scenario)).toEqual([
      "meanwhile the job holds 2 containers (2 GiB, 2 cores) that do nothing: 0.05 GiB·h so far",
    ]);
  });

  test.each([
    ["for as long again where nobody took what it gave back", 8192, 120_000],
    ["for a quarter of the time where others took it", 1024, 30_000],
  ])("is kept %s", (_, leftMiB, heldForMs) => {
    const scenario = holdingTwo();
    scenario.after(gangHoldMs);
    const left = { memoryMiB: leftMiB, vcores: 8, others: {} };
    scenario.on({ type: "headroom-changed", available: left });
    scenario.after(scenario.gang.hold.askAgainAtMs - scenario.nowMs);
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1), scenario.container(1)] });
    scenario.after(heldForMs - 1);
    expect(heldBy(scenario)).toHaveLength(2);
    scenario.after(1);
    expect(heldBy(scenario)).toEqual([]);
  });
});

test("a task whose container was given back has no address and is shown in no container", () => {
  const scenario = new Scenario(spec);
  scenario.register();
  scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
  scenario.ready("worker:0");
  expect(scenario.task("worker:0")).toMatchObject({ host: "n1", port: 30_000 });
  scenario.after(spec.timeouts.gangHoldMs);
  expect(scenario.task("worker:0")).toMatchObject({ host: "", port: 0 });
  expect(statusOf(scenario.core, scenario.nowMs).tasks[0]).not.toHaveProperty("containerId");
});

describe("the pause of a gang that gave its containers back", () => {
  test("differs from job to job, or two jobs that wait for each other would do so for ever", () => {
    const first = new Set(
      ["application_1_0001", "application_1_0002", "application_1_0003"].flatMap((id) => pausesOf(id, 1)),
    );
    expect(first.size).toBe(3);
  });

  test("is the same for a job's every attempt: it depends on the job's id, and on how often the gang has paused", () => {
    expect(pausesOf("application_1_0001", 3)).toEqual([6_905, 13_733, 27_309]);
  });

  test("doubles each time up to five minutes, plus or minus a half", () => {
    const pauses = pausesOf("application_1_0001", 8);
    const bases = [10, 20, 40, 80, 160, 300, 300, 300];
    for (const [index, pauseMs] of pauses.entries()) {
      const baseMs = (bases[index] ?? 0) * 1_000;
      expect(pauseMs).toBeGreaterThanOrEqual(baseMs * 0.5);
      expect(pauseMs).toBeLessThanOrEqual(baseMs * 1.5);
    }
  });
});

describe("a gang that needs more than the cluster has", () => {
  const node = (host: string, change: Partial<NodeView> = {}): NodeView => {
    const total = { memoryMiB: 8192, vcores: 16, others: {} };
    return { nodeId: `${host}:1`, host, rack: "/r", usable: true, labels: [], free: total, total, ...change };
  };
  const thirty = jobSpec([role("worker", 30)]);
  const wantedBy = (scenario: Scenario) => scenario.core.state.asks.map(({ outstanding }) => outstanding);

  /** 30 workers of 1 GiB on 16 GiB. */
  function tooLarge(nodes = [node("a"), node("b")]): Scenario {
    const scenario = new Scenario(thirty);
    scenario.on({ type: "nodes-changed", nodes });
    scenario.register();
    return scenario;
  }

  /** Until it looks again: gives what YARN has room for. */
  function look(scenario: Scenario, containers: number): void {
    scenario.after(scenario.gang.hold.askAgainAtMs - scenario.nowMs);
    const given = Array.from({ length: containers }, () => scenario.container(1));
    scenario.on({ type: "containers-allocated", containers: given });
  }

  test("asks for nothing and holds nothing, and says so and when it asks again", () => {
    const scenario = tooLarge();
    expect(asksOf(scenario.effects)).toEqual([]);
    const { waits } = statusOf(scenario.core, scenario.nowMs);
    expect(waits.flatMap(({ reasons }) => reasons)).toEqual([
      "waiting will not help unless nodes join: the cluster has 16 GiB in all, the job asks for 30 GiB",
      "until then the job holds no container but its AM's; it asks again when nodes join or change, and about every 5 min",
    ]);
    expect(waits[1]?.endsAtMs).toBe(scenario.gang.hold.askAgainAtMs);
    expect(waits[1]?.sinceMs).toBe(1_000_000);
  });

  test("holds nothing under the next attempt either, which asks no earlier", () => {
    const scenario = tooLarge();
    scenario.after(1_000);
    const { askAgainAtMs } = scenario.gang.hold;
    expect(scenario.journal).toMatchObject({ gangs: [{ hold: { isVain: true, askAgainAtMs } }] });
    look(scenario, 0);
    scenario.after(11_000);
    const later = scenario.gang.hold.askAgainAtMs;
    expect(later).toBeGreaterThan(askAgainAtMs);
    expect(scenario.journal).toMatchObject({ gangs: [{ hold: { isVain: true, askAgainAtMs: later } }] });
    expect(asksOf(scenario.crash([]))).toEqual([]);
  });

  test("tells that it asks for none, and what it gives back where it had some", () => {
    const words = (scenario: Scenario) =>
      scenario.effects.flatMap((effect) =>
        effect.type === "log" && effect.event === "gang-in-vain" ? [effect.message] : [],
      );
    const pause = /It asks again when nodes join or change, and in \d+ min( \d+ s)?\.$/;
    const none = words(tooLarge());
    expect(none).toEqual([expect.stringMatching(pause)]);
    expect(none[0]).not.toContain("given back");
    const scenario = tooLarge([node("a"), node("b"), node("c"), node("d")]);
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1), scenario.container(1)] });
    scenario.on({ type: "nodes-changed", nodes: [node("c", { state: "DECOMMISSIONED", usable: false })] });
    expect(words(scenario)).toEqual([expect.stringContaining(" 2 containers will be given back.")]);
    expect(scenario.effects).toContainEqual(
      expect.objectContaining({ level: "warn", event: "gang-in-vain", fields: { containers: 2 } }),
    );
    expect(heldBy(scenario)).toEqual([]);
  });

  test("keeps what comes when it asks again for ten seconds, and then withdraws the ask, so that YARN reserves nothing for it", () => {
    const scenario = tooLarge();
    look(scenario, 15);
    scenario.ready("worker:0");
    expect(heldBy(scenario)).toHaveLength(15);
    scenario.after(10_000);
    expect(heldBy(scenario)).toEqual([]);
    expect(wantedBy(scenario)).toEqual([0]);
    look(scenario, 0);
    expect(wantedBy(scenario)).toEqual([30]);
    const effects = scenario.after(10_000);
    expect(wantedBy(scenario)).toEqual([0]);
    // There was nothing to give back.
    expect(effects).not.toContainEqual(expect.objectContaining({ event: "gang-returned" }));
  });

  test("starts when it gets everything that it asks for, whatever is known about the nodes", () => {
    const scenario = tooLarge();
    look(scenario, 30);
    scenario.readyAll();
    expect(scenario.gang.hold.isVain).toBe(false);
    expect(new Set(scenario.core.state.tasks.map(({ phase }) => phase))).toEqual(new Set(["starting"]));
  });

  test("asks at once when nodes join or one becomes larger", () => {
    const joined = tooLarge();
    const asks = asksOf(joined.on({ type: "nodes-changed", nodes: [node("c"), node("d")] }));
    expect(asks).toMatchObject([{ role: "worker", count: 30 }]);
    const grown = { memoryMiB: 32_768, vcores: 32, others: {} };
    expect(asksOf(tooLarge().on({ type: "nodes-changed", nodes: [node("a", { total: grown })] }))).toHaveLength(1);
  });

  test("holds its containers as long as any gang does, once nodes join while it asks", () => {
    const scenario = tooLarge();
    look(scenario, 15);
    scenario.readyAll();
    scenario.after(5_000);
    scenario.on({ type: "nodes-changed", nodes: [node("c"), node("d")] });
    scenario.after(thirty.timeouts.gangHoldMs - 1);
    expect(heldBy(scenario)).toHaveLength(15);
    scenario.after(1);
    expect(heldBy(scenario)).toEqual([]);
  });

  test("pauses no longer than others for having asked in vain, once there is room", () => {
    const scenario = tooLarge();
    for (let looks = 0; looks < 4; looks++) {
      look(scenario, 0);
      scenario.after(10_000);
    }
    scenario.on({ type: "nodes-changed", nodes: [node("c"), node("d")] });
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.readyAll();
    scenario.after(thirty.timeouts.gangHoldMs);
    const pauseMs = scenario.gang.hold.askAgainAtMs - scenario.nowMs;
    expect(pauseMs).toBeGreaterThanOrEqual(5_000);
    expect(pauseMs).toBeLessThanOrEqual(15_000);
  });

  test("waits like any gang where a node that has gone may come back", () => {
    const scenario = tooLarge([node("a"), node("b"), node("c"), node("d", { usable: false })]);
    expect(wantedBy(scenario)).toEqual([30]);
  });
});
