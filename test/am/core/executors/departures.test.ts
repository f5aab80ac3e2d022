import { describe, expect, test } from "@jest/globals";
import { Bounds } from "../../../../am/core/state/bounds.ts";
import type { NodeView } from "../../../../am/core/state/events.ts";
import { waitsOf } from "../../../../am/core/status/waits.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, idleNode, Scenario, sentOf, typesOf } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);
const NO_BUDGETS = { ...base.failure, budgets: { program: 0, infrastructure: 0 } };

/** Ten minutes, less the time to stop and what an executor may need beyond. */
const TIMEOUT_MS = 600_000;
const DEPARTS_AFTER_MS = TIMEOUT_MS - base.timeouts.stopGraceMs - 5_000;

/** A gang that runs and may not fail at all. */
function running(spec = base): Scenario {
  const scenario = new Scenario({ ...spec, failure: NO_BUDGETS });
  scenario.toRunning();
  return scenario;
}

function reports(scenario: Scenario, host: string, change: Partial<NodeView>) {
  return scenario.on({ type: "nodes-changed", nodes: [{ ...idleNode(host), ...change }] });
}

function leaves(scenario: Scenario, host: string, decommissioning: { timeoutMs?: number } = { timeoutMs: TIMEOUT_MS }) {
  return reports(scenario, host, { usable: false, decommissioning });
}

function saves(scenario: Scenario, task: string, step: number) {
  const { containerId, generation } = scenario.task(task);
  const checkpoint = { path: `hdfs:///c/${step}`, step, atMs: scenario.nowMs };
  return scenario.on({
    type: "child-progress",
    ...{ task, containerId, generation, step, atMs: scenario.nowMs, checkpoint },
  });
}

/** Both programs stop, both executors make ready, the one on the leaving node gives its container up. */
function restarts(scenario: Scenario): void {
  scenario.stops("worker:0");
  scenario.stops("worker:1");
  scenario.readyAll();
  scenario.completes("c2", -100, "Container released by application");
  scenario.allocateAll();
  scenario.readyAll();
  scenario.startedAll();
}

describe("while a node is being decommissioned", () => {
  test("a task that waits there for the others to start gets another container", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    scenario.ready("worker:0");
    leaves(scenario, "n1");
    expect(scenario.phases()).toBe("worker:0 waiting, worker:1 waiting");
    expect(scenario.core.state.asks).toMatchObject([{ outstanding: 2 }]);
  });

  test("its program gets the signal and the time it has, and other programs get nothing", () => {
    const scenario = running();
    const effects = leaves(scenario, "n2");
    expect(effects.filter(({ type }) => type === "send")).toEqual([
      {
        type: "send",
        to: { task: "worker:1", containerId: "c2" },
        message: {
          ...{ type: "signal-child", generation: 1, signal: "SIGTERM" },
          reason: "the node is being taken out of the cluster",
          notice: {
            ...{ cause: "decommissioning", atMs: scenario.nowMs },
            endsAtMs: scenario.nowMs + DEPARTS_AFTER_MS,
          },
        },
      },
    ]);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
    expect(sentOf(leaves(scenario, "n2"), "signal-child")).toEqual([]);
  });

  test("and has less time than its program needs to stop, the program is told that its time is up now, not earlier", () => {
    const scenario = running();
    const effects = leaves(scenario, "n2", { timeoutMs: 1_000 });
    const notices = effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "signal-child" ? [effect.message.notice] : [],
    );
    expect(notices).toMatchObject([{ endsAtMs: scenario.nowMs }]);
  });

  test("YARN is told to avoid it, again after a takeover, and no longer once the node stays", () => {
    const scenario = running();
    expect(leaves(scenario, "n2")).toContainEqual({ type: "blacklist", hosts: ["n2"] });
    scenario.after(1_000);
    expect(scenario.crash([])).toContainEqual({ type: "blacklist", hosts: ["n2"] });
    expect(reports(scenario, "n2", {})).toContainEqual({ type: "blacklist", hosts: [] });
  });

  test("its task moves once the next checkpoint is complete, whichever task saved it; nobody pays, and no machine is blamed", () => {
    const scenario = running();
    saves(scenario, "worker:0", 100);
    leaves(scenario, "n2");
    scenario.after(60_000);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
    expect(sentOf(saves(scenario, "worker:0", 200), "stop-child")).toEqual(["worker:0", "worker:1"]);
    restarts(scenario);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 2, outcome: undefined });
    expect(scenario.task("worker:0").host).toBe("n1");
    expect(scenario.task("worker:1").host).toBe("n3");
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
    expect(Object.values(scenario.core.state.blame)).toEqual([]);
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({
      task: "worker:1",
      summary:
        "worker:1 left n2, which is being taken out of the cluster, after the checkpoint of step 200 was complete",
    });
  });

  test("its task moves without a new checkpoint while there is still time to stop", () => {
    const scenario = running();
    leaves(scenario, "n2");
    scenario.after(DEPARTS_AFTER_MS - 1);
    expect(waitsOf(scenario.core, scenario.nowMs)).toMatchObject([
      { what: "a checkpoint, before worker:1 must leave", endsAtMs: scenario.nowMs + 1 },
    ]);
    expect(sentOf(scenario.after(1), "stop-child")).toEqual(["worker:0", "worker:1"]);
    restarts(scenario);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 2 });
    expect(scenario.gang.generations[0]?.endedBy?.summary).toMatch(/before a new checkpoint was complete$/);
  });

  test("a checkpoint of a task that lives on its own moves no other one that is told to leave", () => {
    const scenario = running({ ...base, roles: [role("worker", 2), role("ps", 2, { restartPolicy: "task" })] });
    leaves(scenario, "n4");
    expect(sentOf(saves(scenario, "ps:0", 5), "stop-child")).toEqual([]);
    const effects = saves(scenario, "ps:1", 6);
    expect(sentOf(effects, "stop-child")).toEqual(["ps:1"]);
    expect(effects).toContainEqual(
      expect.objectContaining({ message: expect.objectContaining({ reason: { code: "node-leaves", step: 6 } }) }),
    );
  });

  test("once its task moves, nothing is awaited of its program there any more", () => {
    const scenario = running();
    leaves(scenario, "n2");
    saves(scenario, "worker:0", 7);
    expect(waitsOf(scenario.core, scenario.nowMs).map(({ reason }) => reason.code)).toEqual(["programs"]);
  });

  test("a checkpoint that is heard of when its program stops already gives no second reason to stop", () => {
    const scenario = running();
    leaves(scenario, "n2");
    scenario.exits("worker:0", { exitCode: 1, errorSummary: "ValueError" });
    saves(scenario, "worker:1", 7);
    expect(scenario.gang.generations[0]?.endedBy?.summary).toMatch(/ValueError$/);
  });

  test("a program there that was told to stop before it was heard to have started is told no more", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.allocateAll();
    scenario.readyAll();
    leaves(scenario, "n2");
    scenario.exits("worker:0", { exitCode: 1 });
    expect(scenario.task("worker:1").phase).toBe("stopping");
    const { containerId, generation } = scenario.task("worker:1");
    const atMs = scenario.nowMs;
    scenario.on({ type: "child-started", task: "worker:1", containerId, generation, pid: 7, atMs });
    expect(sentOf(scenario.effects, "signal-child")).toEqual([]);
  });

  test("a task whose launch its node has only accepted begins elsewhere", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.allocateAll();
    scenario.on({ type: "launch-succeeded", containerId: "c2" });
    leaves(scenario, "n2");
    expect(scenario.phases()).toBe("worker:0 allocated, worker:1 waiting");
  });

  test("and another one too, the one that stays keeps only its own programs", () => {
    const scenario = running();
    leaves(scenario, "n1");
    leaves(scenario, "n2");
    const effects = reports(scenario, "n1", {});
    expect(effects).toContainEqual(expect.objectContaining({ type: "log", message: "n1 stays in the cluster." }));
    expect(sentOf(scenario.after(DEPARTS_AFTER_MS), "stop-child")).toEqual(["worker:0", "worker:1"]);
    expect(scenario.gang.restartReason).toMatch(/^worker:1 left n2/);
  });

  test("and nobody gives a time limit, its task waits for a checkpoint as long as it takes", () => {
    const scenario = running();
    leaves(scenario, "n2", {});
    expect(sentOf(scenario.after(86_400_000), "stop-child")).toEqual([]);
    expect(sentOf(saves(scenario, "worker:1", 1), "stop-child")).toEqual(["worker:0", "worker:1"]);
  });

  test("a program there that ends badly after the notice gives way, however long it saves; its checkpoint is uploaded before its container goes back", () => {
    const scenario = running();
    leaves(scenario, "n2");
    scenario.after(300_000);
    const effects = scenario.exits("worker:1", { exitCode: 143 });
    expect(sentOf(effects, "prepare")).toEqual(["worker:1"]);
    expect(effects).not.toContainEqual(expect.objectContaining({ type: "release" }));
    scenario.stops("worker:0");
    expect(scenario.readyAll()).toContainEqual(expect.objectContaining({ type: "release", containerIds: ["c2"] }));
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("a program there that loses a peer gives way only where nothing else was lost", () => {
    const scenario = new Scenario(jobSpec([role("worker", 3)]));
    scenario.toRunning();
    leaves(scenario, "n2");
    scenario.exits("worker:1", { exitCode: 1, peerConnectionLost: true });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
    scenario.completes("c3", -100, "Container released on a *lost* node");
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:2" });
  });

  test("a program that starts anew in its container is told again, for its notice is as good as before", () => {
    const scenario = new Scenario(base);
    scenario.toRunning();
    leaves(scenario, "n2", {});
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.stops("worker:1");
    expect(scenario.core.state.containers.c2?.notice).toMatchObject({ cause: "decommissioning" });
    scenario.ready("worker:0");
    scenario.ready("worker:1");
    expect(scenario.task("worker:1").phase).toBe("waiting");
  });

  test("a program there that ends well has succeeded", () => {
    const scenario = running();
    leaves(scenario, "n2");
    scenario.exits("worker:1");
    scenario.exits("worker:0");
    expect(scenario.core.state.outcome?.result).toBe("succeeded");
  });

  test("a program there that missed the notice is told when its executor is back, and by the next attempt", () => {
    const scenario = running();
    leaves(scenario, "n2");
    const child = { state: "running", pid: 7, startedAtMs: scenario.nowMs } as const;
    expect(sentOf(scenario.reports("worker:1", child), "signal-child")).toEqual(["worker:1"]);
    scenario.after(1_000);
    scenario.crash([]);
    expect(sentOf(scenario.reports("worker:1", child), "signal-child")).toEqual(["worker:1"]);
  });

  test("what it is told again is what it was told first: its time is no longer", () => {
    const scenario = running();
    leaves(scenario, "n2");
    const endsAtMs = scenario.nowMs + DEPARTS_AFTER_MS;
    scenario.after(60_000);
    const effects = scenario.reports("worker:1", { state: "running", pid: 7, startedAtMs: scenario.nowMs });
    const notices = effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "signal-child" ? [effect.message.notice] : [],
    );
    expect(notices).toEqual([{ cause: "decommissioning", atMs: scenario.nowMs - 60_000, endsAtMs }]);
  });

  test("a program that has not started there starts elsewhere, in the same generation", () => {
    const scenario = new Scenario({ ...base, failure: NO_BUDGETS });
    scenario.register();
    scenario.allocateAll();
    scenario.ready("worker:0");
    const effects = leaves(scenario, "n2");
    expect(effects).toContainEqual(expect.objectContaining({ type: "release", containerIds: ["c2"] }));
    expect(asksOf(effects)).toMatchObject([{ count: 1 }]);
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    expect(scenario.job).toMatchObject({ phase: "running", generation: 1 });
  });

  test("a container that is given there nevertheless goes back", () => {
    const scenario = new Scenario(base);
    scenario.register();
    leaves(scenario, "n1");
    const effects = scenario.allocateAll();
    expect(effects).toContainEqual(expect.objectContaining({ type: "release", containerIds: ["c1"] }));
    expect(asksOf(effects)).toMatchObject([{ count: 1 }]);
  });

  test("a program that is just starting there is told as soon as it has started", () => {
    const scenario = new Scenario(base);
    scenario.register();
    scenario.allocateAll();
    scenario.readyAll();
    expect(sentOf(leaves(scenario, "n2"), "signal-child")).toEqual([]);
    scenario.startedAll();
    expect(sentOf(scenario.effects, "signal-child")).toEqual(["worker:1"]);
  });

  test("a program that had not begun there when the node began to leave begins elsewhere", () => {
    const scenario = new Scenario({ ...base, failure: NO_BUDGETS });
    scenario.register();
    scenario.allocateAll();
    scenario.readyAll();
    leaves(scenario, "n2");
    const effects = scenario.reports("worker:1", { state: "none" });
    expect(sentOf(effects, "start-child")).toEqual([]);
    expect(effects).toContainEqual(expect.objectContaining({ type: "release", containerIds: ["c2"] }));
    restarts(scenario);
    expect(scenario.job).toMatchObject({ phase: "running", generation: 2 });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("an executor there that does not get ready again leaves the machine unblamed", () => {
    const scenario = new Scenario({
      ...base,
      failure: { ...base.failure, budgets: { program: 1, infrastructure: 0 } },
    });
    scenario.toRunning();
    leaves(scenario, "n2");
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.stops("worker:1");
    scenario.ready("worker:0");
    scenario.after(Bounds.prepareMs + base.timeouts.stopGraceMs + 1_000);
    expect(scenario.task("worker:1")).toMatchObject({ phase: "waiting", machineFailures: 0 });
    expect(scenario.core.state.blame.n2?.failures ?? 0).toBe(0);
  });

  test("and then stays after all, nothing moves", () => {
    const scenario = running();
    leaves(scenario, "n2");
    reports(scenario, "n2", {});
    saves(scenario, "worker:0", 5);
    expect(sentOf(scenario.after(86_400_000), "stop-child")).toEqual([]);
  });

  test("for a second time, its programs are told again and have the new time", () => {
    const scenario = running();
    leaves(scenario, "n2");
    reports(scenario, "n2", {});
    scenario.after(60_000);
    const atMs = scenario.nowMs;
    const told = leaves(scenario, "n2").flatMap((effect) =>
      effect.type === "send" && effect.message.type === "signal-child" ? [effect.message.notice] : [],
    );
    expect(told).toEqual([{ cause: "decommissioning", atMs, endsAtMs: atMs + DEPARTS_AFTER_MS }]);
    expect(sentOf(scenario.after(DEPARTS_AFTER_MS - 1), "stop-child")).toEqual([]);
    expect(sentOf(scenario.after(1), "stop-child")).toEqual(["worker:0", "worker:1"]);
  });

  test("a task that lives on its own moves alone", () => {
    const scenario = running({ ...base, roles: [role("worker", 2, { restartPolicy: "task" })] });
    leaves(scenario, "n2");
    saves(scenario, "worker:0", 7);
    expect(scenario.task("worker:1").phase).toBe("running");
    expect(sentOf(scenario.after(DEPARTS_AFTER_MS), "stop-child")).toEqual(["worker:1"]);
    scenario.exits("worker:1", { signal: "SIGTERM", stopReason: { code: "node-leaves", step: 0 } });
    scenario.ready("worker:1");
    scenario.allocateAll();
    expect(scenario.task("worker:1")).toMatchObject({ host: "n3", phase: "allocated" });
    expect(scenario.task("worker:0").phase).toBe("running");
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("so does a sidecar that lives on its own, while one that would not start again is left to YARN", () => {
    const roles = [role("worker", 1), role("board", 1, { tracking: "sidecar", restartPolicy: "task" })];
    const scenario = running({ ...base, roles });
    leaves(scenario, "n2");
    expect(sentOf(scenario.after(DEPARTS_AFTER_MS), "stop-child")).toEqual(["board:0"]);
    const others = running({ ...base, roles: [role("worker", 1), role("board", 1, { tracking: "sidecar" })] });
    leaves(others, "n2");
    expect(sentOf(others.after(DEPARTS_AFTER_MS), "stop-child")).toEqual([]);
  });

  test("a task that lives on its own starts again although it was told twice to stop, while others restart as a gang", () => {
    const roles = [role("worker", 2, { restartPolicy: "task" }), role("ps", 1, { tracking: "untracked" })];
    const scenario = new Scenario({ ...base, roles });
    scenario.toRunning();
    leaves(scenario, "n2", { timeoutMs: 1_000 });
    scenario.after(1);
    scenario.exits("ps:0", { exitCode: 1 });
    reports(scenario, "n2", { usable: true });
    // An executor whose stream broke is told again to stop, and no more why.
    scenario.exits("worker:1", { signal: "SIGTERM", stopReason: { code: "generation-ended", why: "it is to stop" } });
    expect(scenario.task("worker:1")).toMatchObject({ phase: "preparing", restarts: 1 });
  });

  test("a task that is never restarted runs until YARN takes the node", () => {
    const scenario = running({ ...base, roles: [role("worker", 2, { restartPolicy: "none" })] });
    leaves(scenario, "n2");
    expect(sentOf(scenario.after(TIMEOUT_MS), "stop-child")).toEqual([]);
    expect(waitsOf(scenario.core, scenario.nowMs)).toEqual([]);
  });
});

test("that a node leaves at no time that anybody says is told without one", () => {
  const told = leaves(running(), "n2", {}).flatMap((effect) => (effect.type === "log" ? [effect.message] : []));
  expect(told).toEqual(["n2 is being taken out of the cluster."]);
});

test.each([
  ["n2", ""],
  ["n0", " This ApplicationMaster runs there: another attempt takes over."],
])("that %s leaves is told, with what goes with it", (host, master) => {
  const told = leaves(running(), host).flatMap((effect) => (effect.type === "log" ? [effect.message] : []));
  expect(told).toEqual([`${host} is being taken out of the cluster, in 10 min at the latest.${master}`]);
});

test("a node that is not usable yet has not come back", () => {
  const scenario = running();
  leaves(scenario, "n2");
  expect(typesOf(reports(scenario, "n2", { usable: false }))).not.toContain("blacklist");
  expect(scenario.core.state.leaving).toHaveProperty("n2");
});

test("what is given up there already is told nothing, and another task's checkpoint moves none that is not told to leave", () => {
  const scenario = running({ ...base, roles: [role("worker", 2), role("ps", 1, { restartPolicy: "task" })] });
  leaves(scenario, "n3", {});
  expect(sentOf(saves(scenario, "worker:0", 5), "stop-child")).toEqual([]);
  scenario.vanishes("ps:0");
  expect(scenario.core.state.containers.c3?.phase).toBe("discarded");
  const node = reports(scenario, "n3", {});
  expect(sentOf([...node, ...leaves(scenario, "n3")], "signal-child")).toEqual([]);
});

test("that a node leaves where nothing of the job runs is shown as well", () => {
  expect(typesOf(leaves(running(), "n9"))).toContain("publish-status");
});

test("a node that changes, and neither leaves nor had been leaving, is no news", () => {
  const scenario = running();
  expect(reports(scenario, "n2", { free: { memoryMiB: 0, vcores: 0, others: {} } })).toEqual([]);
  leaves(scenario, "n2");
  expect(typesOf(leaves(scenario, "n2"))).not.toContain("blacklist");
});

test("a node that begins to leave while a later attempt reads its journal counts as leaving, too", () => {
  const scenario = running();
  const kept = ["c1", "c2"].map((containerId) => scenario.container(1, { containerId }));
  const decommissioning = { timeoutMs: TIMEOUT_MS };
  scenario.crash(kept, [{ type: "nodes-changed", nodes: [{ ...idleNode("n2"), usable: false, decommissioning }] }]);
  expect(scenario.core.state.leaving).toEqual({ n2: { atMs: scenario.nowMs + TIMEOUT_MS } });
  expect(scenario.effects.filter((one) => one.type === "log" && one.event === "node-leaves")).toHaveLength(1);
});

describe("a node was decommissioned with containers on it", () => {
  test("no budget pays for its executor's silence and no machine is blamed, although YARN does not say what ended the container", () => {
    const scenario = running();
    leaves(scenario, "n2", {});
    scenario.silent("worker:1", 6_000);
    scenario.after(base.timeouts.heartbeatExpiryMs);
    expect(scenario.gang.generations[0]?.endedBy?.summary).toBe(
      "worker:1 stopped responding: n2 is being taken out of the cluster",
    );
    scenario.stops("worker:0");
    scenario.completes("c2", -100, "Container released by application");
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    expect(scenario.job).toMatchObject({ phase: "running", generation: 2, outcome: undefined });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
    expect(Object.values(scenario.core.state.blame)).toEqual([]);
  });

  test("no budget pays and no machine is blamed", () => {
    const scenario = running();
    leaves(scenario, "n2", { timeoutMs: 0 });
    scenario.breaks("worker:1");
    scenario.completes("c2", -100, "Container released on a *lost* node");
    scenario.stops("worker:0");
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    expect(scenario.job).toMatchObject({ phase: "running", generation: 2, outcome: undefined });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
    expect(Object.values(scenario.core.state.blame).filter(({ failures }) => failures > 0)).toEqual([]);
  });
});
