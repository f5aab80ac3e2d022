import { describe, expect, test } from "@jest/globals";
import type { NodeView } from "../../../../am/core/state/events.ts";
import type { RoleSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { idleNode, Scenario } from "../scenario.ts";

const named = (...hosts: string[]) => hosts.map(idleNode);

/** A job that goes on however often machines fail it, and that knows these nodes. */
function onNodes(
  nodes: readonly NodeView[],
  roles: readonly RoleSpec[] = [role("worker", 3)],
  container = 1,
): Scenario {
  const { failure } = jobSpec([]);
  const often = { budgets: { program: 9, infrastructure: 99 }, blame: { container, node: 2, job: 99 } };
  const scenario = new Scenario(jobSpec(roles, { failure: { ...failure, ...often } }));
  scenario.on({ type: "nodes-changed", nodes });
  scenario.register();
  return scenario;
}

/** The disks of a host fail under so many containers at once. */
function disksFail(scenario: Scenario, host: string, times: number): void {
  const containers = Array.from({ length: times }, () => scenario.container(1, { host }));
  scenario.on({ type: "containers-allocated", containers });
  for (const { containerId } of containers) scenario.completes(containerId, -101);
}

const gpu = (...hosts: string[]) => named(...hosts).map((node) => ({ ...node, labels: ["gpu"] }));
const roles = [role("worker", 3), role("ps", 1, { nodeLabel: "gpu" })];

const excluded = (scenario: Scenario) =>
  Object.entries(scenario.core.state.blame).flatMap(([host, blame]) => (blame.excluded ? [host] : []));

const told = (scenario: Scenario, event: string) =>
  scenario.effects.flatMap((effect) => (effect.type === "log" && effect.event === event ? [effect.message] : []));

describe("a node on which machines failed twice", () => {
  test("is kept off, which is told once however often it fails in the end", () => {
    const scenario = onNodes(named("a", "b", "c"));
    disksFail(scenario, "a", 1);
    expect(excluded(scenario)).toEqual([]);
    disksFail(scenario, "a", 2);
    expect(scenario.core.state.blame).toEqual({ a: { failures: 3, excluded: true } });
    expect(told(scenario, "node-excluded")).toEqual(["a is kept off for the rest of the job: 2 failures."]);
  });

  test.each([
    ["the third of six", named("a", "b", "c", "d", "e", "f"), ["a", "b"]],
    ["the second of five", named("a", "b", "c", "d", "e"), ["a"]],
    ["one of two that can be used", [...named("a", "b"), { ...idleNode("c"), usable: false }], []],
    ["one of a cluster that is not known", [], []],
  ])(
    "stays in use where it is more than a third of the nodes with those kept off already: %s",
    (_which, nodes, expected) => {
      const scenario = onNodes(nodes);
      for (const host of ["a", "b", "c"]) disksFail(scenario, host, 2);
      expect(excluded(scenario)).toEqual(expected);
    },
  );

  test("is kept off where even with it the nodes are too small for the job", () => {
    const total = { memoryMiB: 512, vcores: 8, others: {} };
    const scenario = onNodes(named("a", "b", "c").map((node) => ({ ...node, total })));
    disksFail(scenario, "a", 2);
    expect(excluded(scenario)).toEqual(["a"]);
  });

  test("is kept off however few nodes serve a role that cannot run there", () => {
    const scenario = onNodes([...named("a", "b", "c"), ...gpu("g")], roles);
    disksFail(scenario, "a", 2);
    expect(excluded(scenario)).toEqual(["a"]);
  });

  test("stays in use for the role that needs it, however many nodes serve another", () => {
    const scenario = onNodes([...named("a", "b"), ...gpu("g", "h", "i")], roles);
    disksFail(scenario, "a", 2);
    expect(excluded(scenario)).toEqual([]);
  });
});

describe("a node that was kept off", () => {
  test("is used again, the one that failed least first, when too few others are left", () => {
    const scenario = onNodes(named("a", "b", "c", "d", "e", "f"));
    disksFail(scenario, "a", 3);
    disksFail(scenario, "b", 2);
    expect(excluded(scenario)).toEqual(["a", "b"]);
    const gone = named("e", "f").map((node) => ({ ...node, usable: false }));
    expect(scenario.on({ type: "nodes-changed", nodes: gone })).toContainEqual({ type: "blacklist", hosts: ["a"] });
    expect(told(scenario, "node-pardoned")).toEqual(["b may be used again: too few other nodes are left."]);
  });

  test("is used again when too few others of its label are left, however many other nodes there are", () => {
    const labelled = gpu("g", "h", "i");
    const scenario = onNodes([...named("a", "b", "c"), ...labelled], roles);
    disksFail(scenario, "g", 2);
    expect(excluded(scenario)).toEqual(["g"]);
    const gone = labelled.slice(2).map((node) => ({ ...node, usable: false }));
    scenario.on({ type: "nodes-changed", nodes: gone });
    expect(excluded(scenario)).toEqual([]);
  });

  test("is used again only when so many failures were not its own that too few remain, which is told", () => {
    const scenario = onNodes(named("a", "b", "c"));
    const given = Array.from({ length: 3 }, () => scenario.container(1, { host: "a" }));
    scenario.on({ type: "containers-allocated", containers: given });
    scenario.readyAll();
    scenario.startedAll();
    for (const task of ["worker:0", "worker:1", "worker:2"]) scenario.breaks(task);
    scenario.after(scenario.core.spec.timeouts.massSilenceMs);
    expect(scenario.core.state.blame).toEqual({ a: { failures: 3, excluded: true } });
    scenario.completes("c1", -102);
    expect(scenario.core.state.blame).toEqual({ a: { failures: 2, excluded: true } });
    expect(told(scenario, "node-pardoned")).toEqual([]);
    scenario.completes("c2", -102);
    expect(scenario.core.state.blame).toEqual({ a: { failures: 1, excluded: false } });
    expect(told(scenario, "node-pardoned")).toEqual(["a may be used again: worker:1 had not failed because of it."]);
  });
});

test("a container is kept until its machine has failed as often as it may", () => {
  const scenario = onNodes(named("n1", "n2", "n3"), [role("worker", 1)], 2);
  scenario.allocateAll();
  const failsOnce = () => {
    scenario.readyAll();
    scenario.after(10_000);
    scenario.startedAll();
    return scenario.exits("worker:0", { signal: "SIGBUS" });
  };
  const stopped = expect.objectContaining({ type: "stop-container", containerId: "c1" });
  expect(failsOnce()).not.toContainEqual(stopped);
  expect(failsOnce()).toContainEqual(stopped);
});

test("a failure just short of ten minutes after the start counts with the earlier ones", () => {
  const scenario = onNodes(named("n1", "n2", "n3"), [role("worker", 1)], 9);
  scenario.allocateAll();
  for (let failure = 0; failure < 2; failure++) {
    scenario.readyAll();
    scenario.after(10_000);
    scenario.startedAll();
    scenario.after(599_999);
    scenario.exits("worker:0", { signal: "SIGBUS" });
  }
  expect(scenario.core.state.blame).toMatchObject({ n1: { failures: 2 } });
  expect(scenario.task("worker:0").machineFailures).toBe(2);
});

describe("a role whose failure ends the job", () => {
  function running(): Scenario {
    const scenario = onNodes([], [role("worker", 1), role("ps", 1, { stopOnFailure: true })]);
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    return scenario;
  }

  test("ends it with its program, whatever budget is left", () => {
    const scenario = running();
    scenario.exits("ps:0", { exitCode: 1 });
    scenario.stops("worker:0");
    expect(scenario.core.state.outcome).toMatchObject({
      result: "failed",
      reason: { code: "role-must-not-fail", role: "ps" },
    });
  });

  test("does not end it with its machine", () => {
    const scenario = running();
    scenario.completes(scenario.task("ps:0").containerId, -100);
    scenario.stops("worker:0");
    expect(scenario.job).toMatchObject({ generation: 2, outcome: undefined });
  });
});
