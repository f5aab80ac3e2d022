import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import type { JobSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { childExit } from "../../../support/child-exit.ts";
import { idleNode, Scenario, sentOf } from "../scenario.ts";

const resource = { memoryMiB: 1024, vcores: 1, others: {} };
const large = { ...resource, memoryMiB: 4096 };
const prepareThenTrain = [role("prep", 1, { resource }), role("worker", 2, { resource, dependsOn: ["prep"] })];

function running(roles = prepareThenTrain, change: Partial<JobSpec> = {}): Scenario {
  const scenario = new Scenario(jobSpec(roles, change));
  scenario.toRunning();
  return scenario;
}

function asked(effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) =>
    effect.type === "ask" ? effect.asks.map(({ role: name, count }) => `${name} × ${count}`) : [],
  );
}

function relaunched(effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) =>
    effect.type === "relaunch" ? effect.launches.map(({ containerId, task }) => `${containerId} → ${task}`) : [],
  );
}

function released(effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) => (effect.type === "release" ? effect.containerIds : []));
}

describe("a stage that waits for another", () => {
  test("does not begin when that had tasks whose failure is tolerated, and none succeeded", () => {
    const { failure } = jobSpec([]);
    const tolerating = {
      failure: { ...failure, onWorkerFailure: "tolerate", budgets: { program: 0, infrastructure: 0 } },
    } as const;
    const scenario = running(prepareThenTrain, tolerating);
    scenario.exits("prep:0", { exitCode: 1 });
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", summary: "0 of 1 tracked task exited 0" });
  });

  test("asks for nothing before the other is done, and starts with a cluster spec of its own", () => {
    const scenario = new Scenario(jobSpec(prepareThenTrain));
    expect(asked(scenario.register())).toEqual(["prep × 1"]);
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    expect(scenario.phases()).toBe("prep:0 running, worker:0 waiting, worker:1 waiting");

    const effects = scenario.exits("prep:0");
    expect(asked(effects)).toEqual(["worker × 1"]);
    scenario.allocateAll();
    const started = scenario.readyAll().flatMap((effect) => {
      return effect.type === "send" && effect.message.type === "start-child" ? [effect.message] : [];
    });
    expect(started).toHaveLength(2);
    expect(started[0]?.clusterSpec.tasks.map(({ task }) => task)).toEqual(["worker:0", "worker:1"]);
    // Nobody was started again.
    expect(started[0]).toMatchObject({ generation: 2, restarts: 0, restartReason: "" });
    scenario.startedAll();
    scenario.exits("worker:0");
    scenario.exits("worker:1");
    expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary: "3 of 3 tasks exited 0" });
  });

  test("begins with the end of the one before, which is told", () => {
    const effects = running().exits("prep:0");
    expect(effects).toContainEqual(
      expect.objectContaining({ event: "stage-done", message: "The stage of generation 1 is done." }),
    );
  });

  test("names the stage for which it waits", () => {
    const { waits } = statusOf(running().core, 1_000_000);
    expect(waits).toEqual([
      expect.objectContaining({
        what: "the stage of worker",
        reasons: ["its containers are asked for when prep is done"],
      }),
    ]);
  });

  test("never begins when the earlier one fails for good", () => {
    const scenario = running(prepareThenTrain, {
      failure: { ...jobSpec([]).failure, budgets: { program: 0, infrastructure: 0 } },
    });
    scenario.exits("prep:0", { exitCode: 1 });
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { task: "prep:0" } });
    expect(scenario.phases()).toContain("worker:0 stopped, worker:1 stopped");
  });

  test("has a generation of its own in the status, with its roles", () => {
    const scenario = running();
    scenario.exits("prep:0");
    const { generation, generations, state } = statusOf(scenario.core, scenario.nowMs);
    expect(generations.map(({ roles }) => roles)).toEqual([["prep"], ["worker"]]);
    expect({ generation, state }).toEqual({ generation: 2, state: "gathering" });
  });
});

describe("a failure in a later stage", () => {
  test("restarts that stage alone, and its own budget pays", () => {
    const scenario = running();
    scenario.exits("prep:0");
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    expect(scenario.phases()).toBe("prep:0 succeeded, worker:0 preparing, worker:1 preparing");
    expect(scenario.core.state.gangs.map(({ charges }) => charges.length)).toEqual([0, 1]);
  });
});

describe("containers of a stage that is done", () => {
  test("serve waiting tasks of the next stage that want the same, and the earlier task's log is still found", () => {
    const scenario = running();
    const effects = scenario.exits("prep:0");
    expect(relaunched(effects)).toEqual(["c1 → worker:0"]);
    expect(released(effects)).toEqual([]);
    const [prep, worker] = statusOf(scenario.core, scenario.nowMs).tasks;
    expect([prep?.containerId, worker?.containerId]).toEqual(["c1", "c1"]);
  });

  test("have none of the earlier task's deadlines", () => {
    const { timeouts } = jobSpec([]);
    const scenario = running(prepareThenTrain, { timeouts: { ...timeouts, progressMs: 60_000, executionMs: 600_000 } });
    const { containerId, generation } = scenario.task("prep:0");
    const report = { task: "prep:0", containerId, generation, step: 1, atMs: scenario.nowMs };
    scenario.on({ type: "child-progress", ...report });
    const owed = () => Object.keys(scenario.core.state.containers[containerId]?.deadlines ?? {}).sort();
    expect(owed()).toEqual(["execution", "progress"]);
    scenario.exits("prep:0");
    expect(owed()).toEqual(["launch"]);
  });

  test("go back when the next stage wants other sizes", () => {
    const scenario = running([
      role("prep", 1, { resource }),
      role("worker", 1, { resource: large, dependsOn: ["prep"] }),
    ]);
    const effects = scenario.exits("prep:0");
    expect(relaunched(effects)).toEqual([]);
    expect(released(effects)).toEqual(["c1"]);
    expect(asked(effects)).toEqual(["worker × 1"]);
  });

  test("go back when the next stage has other files", () => {
    const files = [{ source: "hdfs:///words.txt", name: "words.txt", as: "file" }] as const;
    const scenario = running([
      role("prep", 1, { resource }),
      role("worker", 1, { resource, files, dependsOn: ["prep"] }),
    ]);
    const effects = scenario.exits("prep:0");
    expect(relaunched(effects)).toEqual([]);
    expect(released(effects)).toEqual(["c1"]);
  });

  test("go back when the next stage is for nodes of another label", () => {
    const scenario = running([
      role("prep", 1, { resource }),
      role("worker", 1, { resource, nodeLabel: "gpu", dependsOn: ["prep"] }),
    ]);
    const effects = scenario.exits("prep:0");
    expect(relaunched(effects)).toEqual([]);
    expect(released(effects)).toEqual(["c1"]);
  });

  test("go back when the next stage has another image", () => {
    const image = { YARN_CONTAINER_RUNTIME_TYPE: "docker" };
    const scenario = running([
      role("prep", 1, { resource }),
      role("worker", 1, { resource, image, dependsOn: ["prep"] }),
    ]);
    expect(relaunched(scenario.exits("prep:0"))).toEqual([]);
  });

  test("go back when the next stage has a placement of its own", () => {
    const scenario = running([
      role("prep", 1, { resource }),
      role("worker", 1, { resource, constrained: { tags: ["w"] }, dependsOn: ["prep"] }),
    ]);
    expect(relaunched(scenario.exits("prep:0"))).toEqual([]);
  });

  test("go back when their executors are silent, while those that are heard stay", () => {
    const scenario = running([role("prep", 2, { resource }), role("worker", 2, { resource, dependsOn: ["prep"] })]);
    scenario.exits("prep:0");
    scenario.silent("prep:0", 4_000);
    const effects = scenario.exits("prep:1");
    expect(relaunched(effects)).toEqual(["c2 → worker:0"]);
    expect(released(effects)).toEqual(["c1"]);
  });

  test("go back when their connection is broken", () => {
    const scenario = running([role("prep", 2, { resource }), role("worker", 2, { resource, dependsOn: ["prep"] })]);
    scenario.exits("prep:0");
    scenario.breaks("prep:0");
    const effects = scenario.exits("prep:1");
    expect(relaunched(effects)).toEqual(["c2 → worker:0"]);
  });

  test("go back when their node is excluded", () => {
    const roles = [role("prep", 2, { resource }), role("worker", 2, { resource, dependsOn: ["prep"] })];
    const scenario = new Scenario(jobSpec(roles));
    scenario.on({ type: "nodes-changed", nodes: ["a", "b", "c"].map(idleNode) });
    scenario.register();
    const allocated = (host: string) => {
      const container = scenario.container(1, { host });
      scenario.on({ type: "containers-allocated", containers: [container] });
      return container.containerId;
    };
    allocated("a");
    for (let failure = 0; failure < 2; failure++) scenario.completes(allocated("a"), -101);
    allocated("b");
    scenario.readyAll();
    scenario.startedAll();
    expect(scenario.core.state.blame).toMatchObject({ a: { excluded: true } });
    const effects = [...scenario.exits("prep:0"), ...scenario.exits("prep:1")];
    expect(relaunched(effects)).toEqual(["c4 → worker:0"]);
    expect(released(effects)).toEqual(["c1"]);
  });

  test("go back when the next stage wants fewer", () => {
    const scenario = running([role("prep", 2, { resource }), role("worker", 1, { resource, dependsOn: ["prep"] })]);
    scenario.exits("prep:0");
    const effects = scenario.exits("prep:1");
    expect(relaunched(effects)).toEqual(["c1 → worker:0"]);
    expect(released(effects)).toEqual(["c2"]);
  });

  test("whose executor may still upload what its task left are told to end, and serve nobody", () => {
    const carrier = { outputRequired: true, timeoutMs: 600_000, output: { localDir: "out", dir: "hdfs:///out" } };
    const scenario = running(prepareThenTrain, { carrier });
    const effects = scenario.exits("prep:0");
    expect(relaunched(effects)).toEqual([]);
    const told = effects.flatMap((effect) => (effect.type === "send" ? [effect.message.type] : []));
    expect(told).toContain("exit");
    expect(released(effects)).toEqual([]);
    expect(released(scenario.after(700_000))).toContain("c1");
  });

  test("whose executor's stream broke while it brings that up are left to it, and it is told to end when it is back", () => {
    const carrier = { outputRequired: true, timeoutMs: 600_000, output: { localDir: "out", dir: "hdfs:///out" } };
    const two = [role("prep", 2, { resource }), role("worker", 1, { resource, dependsOn: ["prep"] })];
    const scenario = running(two, { carrier });
    scenario.exits("prep:0");
    scenario.breaks("prep:0");
    const effects = scenario.exits("prep:1");
    expect(released(effects)).toEqual([]);
    expect(sentOf(effects, "exit")).toEqual(["prep:1"]);
    const exit = childExit(scenario.nowMs, { exitCode: 0 });
    expect(sentOf(scenario.reports("prep:0", { state: "exited", exit }), "exit")).toEqual(["prep:0"]);
  });

  test("that could not be given to the next task go back, and another one is asked for", () => {
    const scenario = running();
    scenario.exits("prep:0");
    const message = "the NodeManager cannot launch anything else in a container";
    const effects = scenario.on({ type: "launch-failed", containerId: "c1", message, nodeAtFault: false });
    expect(released(effects)).toEqual(["c1"]);
    expect(asked(effects)).toEqual(["worker × 2"]);
    expect(scenario.core.state.outcome).toBeUndefined();
  });

  test("keep their new task when their former executor says goodbye", () => {
    const scenario = running();
    scenario.exits("prep:0");
    scenario.on({ type: "executor-lost", task: "prep:0", containerId: "c1", cause: "goodbye" });
    expect(scenario.task("worker:0")).toMatchObject({ phase: "allocated", containerId: "c1" });
  });
});

describe("a task for which its stage does not wait", () => {
  const roles = [
    role("prep", 1, { resource }),
    role("store", 1, { resource, tracking: "untracked" }),
    role("worker", 1, { resource, dependsOn: ["prep"] }),
  ];

  test("runs on for the next stage, whose cluster spec names it", () => {
    const scenario = running(roles);
    scenario.exits("prep:0");
    const [start] = scenario.readyAll().flatMap((effect) => {
      return effect.type === "send" && effect.message.type === "start-child" ? [effect.message] : [];
    });
    expect(scenario.task("store:0").phase).toBe("running");
    expect(start?.clusterSpec.tasks.map(({ task }) => task)).toEqual(["store:0", "worker:0"]);
  });

  test("starts again alone when it fails then", () => {
    const scenario = running(roles);
    scenario.exits("prep:0");
    scenario.readyAll();
    scenario.startedAll();
    scenario.exits("store:0", { exitCode: 1 });
    expect(scenario.task("store:0")).toMatchObject({ phase: "preparing", restarts: 1 });
    expect(scenario.task("worker:0").phase).toBe("running");
  });

  test("is not told to end while the verdict on its failure is open, because that order would hide the cause", () => {
    const failure = { ...jobSpec([]).failure, budgets: { program: 0, infrastructure: 1 } };
    const carrier = { outputRequired: true, timeoutMs: 600_000, output: { localDir: "out", dir: "hdfs:///out" } };
    const scenario = running(roles, { carrier, failure });
    scenario.exits("prep:0");
    scenario.readyAll();
    scenario.startedAll();
    expect(sentOf(scenario.exits("store:0", { signal: "SIGKILL" }), "exit")).toEqual([]);
    scenario.after(60_000);
    expect(scenario.core.state.outcome?.summary).toMatch(/^store:0 was ended by SIGKILL/);
  });
});

describe("once the chief of a stage is done for which others wait,", () => {
  const roles = [
    role("chief", 1, { resource, chief: "all" }),
    role("store", 1, { resource, tracking: "untracked" }),
    role("helper", 1, { resource, chief: "none" }),
    role("worker", 1, { resource, dependsOn: ["chief"] }),
  ];
  const done = () => {
    const scenario = running(roles);
    scenario.exits("chief:0");
    scenario.exits("helper:0");
    return scenario;
  };

  test("a task that serves the next stage starts again alone when it fails", () => {
    const scenario = done();
    scenario.exits("store:0", { exitCode: 1 });
    expect(scenario.task("store:0")).toMatchObject({ phase: "preparing", restarts: 1 });
  });

  test("a task for which the stage waited is not started again when its container is lost while it stops", () => {
    const scenario = running(roles);
    scenario.exits("chief:0");
    scenario.after(jobSpec([]).timeouts.afterChiefMs);
    scenario.completes(scenario.task("helper:0").containerId, -100);
    expect(scenario.task("helper:0").phase).toBe("lost");
    expect(scenario.core.state.gangs[0]?.charges).toEqual([]);
  });
});

test("a task for which its stage does not wait, and which was to restart with it just as the stage became done, starts alone", () => {
  const scenario = running([
    role("chief", 1, { resource, chief: "all" }),
    role("store", 1, { resource, tracking: "untracked" }),
    role("worker", 1, { resource, dependsOn: ["chief"] }),
  ]);
  scenario.exits("store:0", { exitCode: 1 });
  scenario.ready("store:0");
  expect(scenario.phases()).toBe("chief:0 stopping, store:0 registered, worker:0 waiting");

  expect(sentOf(scenario.exits("chief:0"), "start-child")).toEqual(["store:0"]);
  expect(scenario.phases()).toBe("chief:0 succeeded, store:0 starting, worker:0 allocated");
});

test("a stage of only untracked roles is not waited for", () => {
  const scenario = running([
    role("worker", 1, { resource }),
    role("report", 1, { resource }),
    role("store", 1, { resource: large, tracking: "untracked", dependsOn: ["worker"] }),
  ]);
  scenario.exits("worker:0");
  scenario.exits("report:0");
  expect(scenario.core.state.outcome).toMatchObject({ result: "succeeded", summary: "2 of 2 tracked tasks exited 0" });
});

describe("the grace after a chief in a stage for which others wait", () => {
  const roles = [
    role("chief", 1, { resource, chief: "all" }),
    role("helper", 1, { resource, chief: "none" }),
    role("report", 1, { resource, dependsOn: ["chief", "helper"] }),
  ];

  test("ends with its tracked programs being stopped, and their containers serve the next stage", () => {
    const scenario = running(roles);
    scenario.exits("chief:0");
    expect(scenario.phases()).toBe("chief:0 succeeded, helper:0 running, report:0 waiting");
    scenario.after(jobSpec([]).timeouts.afterChiefMs);
    expect(scenario.phases()).toBe("chief:0 succeeded, helper:0 stopping, report:0 allocated");
    scenario.stops("helper:0");
    expect(scenario.task("helper:0").phase).toBe("stopped");
    expect(scenario.core.state.containers.c2?.phase).toBe("discarded");
  });

  test("stops the container of a program that does not stop in time", () => {
    const scenario = running(roles);
    scenario.exits("chief:0");
    const { afterChiefMs, stopGraceMs } = jobSpec([]).timeouts;
    scenario.after(afterChiefMs + stopGraceMs + 30_000);
    expect(scenario.task("helper:0").phase).toBe("lost");
    expect(scenario.core.state.outcome).toBeUndefined();
  });
});

test("an ApplicationMaster that dies between two stages goes on with the second", () => {
  const scenario = running();
  scenario.exits("prep:0");
  const kept = [{ ...scenario.container(1), containerId: "c1", host: "n1" }];
  scenario.after(1_000);
  // Whether the executor of prep:0 was told to make room nobody knows.
  const effects = scenario.crash(kept);
  expect(relaunched(effects)).toEqual(["c1 → worker:0"]);
  // The address that is known is the one of prep:0.
  expect(effects.map(({ type }) => type)).not.toContain("rejoin");
  expect(scenario.core.state.gangs.map(({ phase }) => phase)).toEqual(["done", "gathering"]);
  scenario.ready("worker:0");
  scenario.allocateAll();
  scenario.readyAll();
  expect(scenario.phases()).toBe("prep:0 succeeded, worker:0 starting, worker:1 starting");
});

describe("while the journal does not know yet that a stage is done", () => {
  /** The first stage ends; only what the journal is given by hand is written. */
  function ended() {
    const scenario = running();
    scenario.journalAnswers = false;
    const effects = scenario.exits("prep:0");
    const journal = effects.find((effect) => effect.type === "journal");
    if (journal?.type !== "journal") throw new Error("the end of a stage is journaled");
    const write = () => {
      scenario.journal = JSON.parse(journal.snapshot);
      return scenario.on({ type: "journal-written", sequence: journal.sequence });
    };
    return { scenario, effects, write };
  }

  test("its containers stay, because only their executors know how it ended, and the next stage waits", () => {
    const { effects, write } = ended();
    expect([...asked(effects), ...relaunched(effects), ...released(effects)]).toEqual([]);
    const then = write();
    expect(relaunched(then)).toEqual(["c1 → worker:0"]);
    expect(asked(then)).toEqual(["worker × 1"]);
  });

  test("and another attempt has begun the next one, what has begun gets ready again", () => {
    const { scenario, write } = ended();
    write();
    scenario.allocateAll();
    const { containerId, host } = scenario.task("worker:1");
    const kept = [{ ...scenario.container(2), containerId, host }];
    scenario.ready("worker:1");
    const facts = {
      task: "worker:1",
      containerId,
      generation: 2,
      host,
      port: 1,
      tensorboardPort: 0,
      rejoinAddress: "a:1",
    };
    scenario.journalAnswers = true;
    const effects = scenario.crash(kept, [{ type: "executor-registered", ...facts, child: { state: "none" } }]);
    const { generation } = scenario.task("worker:1");
    expect(generation).toBeGreaterThan(2);
    expect(effects).toContainEqual(
      expect.objectContaining({ type: "send", message: expect.objectContaining({ type: "prepare", generation }) }),
    );
  });
});
