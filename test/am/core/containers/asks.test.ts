import { describe, expect, test } from "@jest/globals";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, idleNode, Scenario, typesOf } from "../scenario.ts";

const twoRoles = () => new Scenario(jobSpec([role("worker", 2), role("ps", 1)]));
const countsOf = (effects: Parameters<typeof asksOf>[0]) =>
  asksOf(effects).map(({ role, count }) => `${role} × ${count}`);

describe("an ask to the ResourceManager", () => {
  test("is sent once: its count falls by itself as containers come, and a complete ask is not sent again", () => {
    const scenario = twoRoles();
    expect(countsOf(scenario.register())).toEqual(["worker × 2", "ps × 1"]);
    expect(countsOf(scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] }))).toEqual([]);
    expect(countsOf(scenario.allocateAll())).toEqual([]);
    expect(scenario.core.state.asks.map(({ outstanding }) => outstanding)).toEqual([0, 0]);
    expect(countsOf(scenario.after(1_000))).toEqual([]);
  });

  test("is not said to be nothing where YARN gives more than was asked for: that goes back", () => {
    const scenario = twoRoles();
    scenario.register();
    scenario.allocateAll();
    const effects = scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    expect(typesOf(effects)).not.toContain("ask");
    expect(effects).toContainEqual({ type: "release", containerIds: ["c4"], reason: "no task needs it" });
    expect(effects).toContainEqual(
      expect.objectContaining({ message: "Given back, because no task needs them: 1 container." }),
    );
    expect(scenario.core.state.containers.c4).toMatchObject({ phase: "discarded", discardReason: "not needed" });
    expect(scenario.core.state.asks.map(({ outstanding }) => outstanding)).toEqual([0, 0]);
  });

  test("is told in words, and not where nothing is wanted any more", () => {
    const words = (effects: Parameters<typeof asksOf>[0]) =>
      effects.flatMap((effect) =>
        effect.type === "log" && effect.event === "containers-asked" ? [effect.message] : [],
      );
    const scenario = twoRoles();
    expect(words(scenario.register())).toEqual(["Asked for containers: worker × 2, ps × 1."]);
    const withdrawn = scenario.on({ type: "stop-requested", reason: "enough" });
    expect(countsOf(withdrawn)).toEqual(["worker × 0", "ps × 0"]);
    expect(words(withdrawn)).toEqual([]);
  });

  test("is sent again to a ResourceManager that restarted, for the containers that are still missing", () => {
    const scenario = twoRoles();
    scenario.register();
    scenario.on({ type: "containers-allocated", containers: [scenario.container(1)] });
    expect(countsOf(scenario.on({ type: "resource-manager-resynced" }))).toEqual(["worker × 1", "ps × 1"]);
  });

  test("is withdrawn once, where naming hosts was in vain before all containers came", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { placement: "pack" })]));
    scenario.on({ type: "nodes-changed", nodes: [idleNode("n8"), idleNode("n9")] });
    scenario.register();
    expect(scenario.gang.phase).toBe("gathering");
    expect(countsOf(scenario.after(10_000))).toEqual(["worker × 2"]);
    expect(countsOf(scenario.allocateAll())).toEqual(["worker × 0"]);
    expect(countsOf(scenario.readyAll())).toEqual([]);
  });

  test("is not said again where hosts were named and all have come before that had lasted too long", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { placement: "pack" })]));
    scenario.on({ type: "nodes-changed", nodes: [idleNode("n8"), idleNode("n9")] });
    scenario.register();
    scenario.allocateAll();
    expect(typesOf(scenario.after(10_000))).not.toContain("ask");
  });

  test("names hosts twice as long for a placement as for speed, even where other roles have no placement", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { placement: "pack" }), role("ps", 1)]));
    scenario.on({ type: "nodes-changed", nodes: [idleNode("n8"), idleNode("n9")] });
    scenario.register();
    expect(countsOf(scenario.after(3_999))).toEqual([]);
    expect(asksOf(scenario.after(1)).map(({ hosts }) => hosts)).toEqual([[], []]);
  });

  test("is not sent again for a role whose hosts were not named, when naming another role's hosts was in vain", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1, { placement: "pack" }), role("ps", 1)]));
    scenario.on({ type: "nodes-changed", nodes: [idleNode("n8"), idleNode("n9")] });
    expect(asksOf(scenario.register())).toMatchObject([{ hosts: [{ host: "n8" }] }, { hosts: [] }]);
    expect(countsOf(scenario.after(3_999))).toEqual([]);
    expect(countsOf(scenario.after(60_000))).toEqual(["worker × 1"]);
  });

  test("insists on no host where none that is named for a placement has room, nor where hosts are named for speed", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1, { placement: "pack" }), role("ps", 2)]));
    const free = { memoryMiB: 1024, vcores: 2, others: {} };
    const full = { memoryMiB: 512, vcores: 2, others: {} };
    scenario.on({ type: "nodes-changed", nodes: [{ ...idleNode("n8"), free: full }] });
    for (const ask of asksOf(scenario.register())) {
      expect(ask).toMatchObject({ hosts: [], racks: [] });
      expect(ask).not.toHaveProperty("relaxLocality");
    }
    scenario.on({
      type: "nodes-changed",
      nodes: [{ ...idleNode("n8"), free, total: { ...free, memoryMiB: 8192, vcores: 8 } }],
    });
    const [worker, ps] = asksOf(scenario.on({ type: "resource-manager-resynced" }));
    expect(worker).toMatchObject({ hosts: [{ host: "n8", count: 1 }], relaxLocality: false });
    expect(ps).toMatchObject({ hosts: [{ host: "n8", count: 2 }] });
    expect(ps).not.toHaveProperty("relaxLocality");
  });

  test("names hosts again once an ask that YARN refused is made anew", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2, { placement: "pack" })]));
    scenario.on({ type: "nodes-changed", nodes: [idleNode("n8"), idleNode("n9")] });
    scenario.register();
    expect(asksOf(scenario.after(10_000))).toMatchObject([{ hosts: [] }]);
    expect(asksOf(scenario.on({ type: "ask-too-large", role: "worker", message: "too large" }))).toEqual([]);
    expect(asksOf(scenario.after(60_000))[0]?.hosts).toMatchObject([{ count: 2 }]);
  });
});

test("a size that YARN refused is asked for again as soon as one of the nodes that join is large enough", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1)]));
  scenario.register();
  scenario.on({ type: "ask-too-large", role: "worker", message: "too large" });
  const joins = (...totalsMiB: readonly number[]) => {
    const nodes = totalsMiB.map((memoryMiB, index) => {
      return { ...idleNode(`m${index}`), total: { memoryMiB, vcores: 8, others: {} } };
    });
    return asksOf(scenario.on({ type: "nodes-changed", nodes }));
  };
  expect(joins(512, 512)).toEqual([]);
  expect(joins(512, 2_048)).toMatchObject([{ count: 1 }]);
});

test("a size that YARN refused is asked for again when a node joins whose size is not known", () => {
  const scenario = new Scenario(jobSpec([role("worker", 1)]));
  scenario.register();
  scenario.on({ type: "ask-too-large", role: "worker", message: "too large" });
  expect(asksOf(scenario.on({ type: "nodes-changed", nodes: [idleNode("m1")] }))).toMatchObject([{ count: 1 }]);
});

describe("the size of a role's containers", () => {
  const gpu = (count: number) => ({ "yarn.io/gpu": count });
  const asked = { memoryMiB: 1024, vcores: 2, others: gpu(1) };
  const sizeAfter = (resource: typeof asked) => {
    const scenario = new Scenario(jobSpec([role("ps", 1), role("worker", 1, { resource: asked })]));
    scenario.register({ resourceTypes: ["yarn.io/gpu"] });
    scenario.on({ type: "containers-allocated", containers: [scenario.container(2, { resource })] });
    return scenario.core.state.roles.map(({ given }) => given);
  };

  test("is what YARN rounded it up to, in each resource, and never less than was asked for", () => {
    expect(sizeAfter({ memoryMiB: 2048, vcores: 1, others: gpu(0) })).toEqual([
      undefined,
      { memoryMiB: 2048, vcores: 2, others: gpu(1) },
    ]);
    expect(sizeAfter({ memoryMiB: 512, vcores: 4, others: gpu(2) })).toEqual([
      undefined,
      { memoryMiB: 1024, vcores: 4, others: gpu(2) },
    ]);
  });

  test("is the one asked for where YARN gives just that", () => {
    expect(sizeAfter(asked)).toEqual([undefined, undefined]);
  });
});

test("a container that answers none of the job's asks goes back", () => {
  const scenario = twoRoles();
  scenario.register();
  const effects = scenario.on({ type: "containers-allocated", containers: [scenario.container(9)] });
  expect(effects).toContainEqual({ type: "release", containerIds: ["c1"], reason: "no task needs it" });
  expect(scenario.core.state.asks.map(({ outstanding }) => outstanding)).toEqual([2, 1]);
});

test("what containers hold counts as used from when they are given until they end, and no moment counts twice", () => {
  const scenario = twoRoles();
  scenario.register();
  const resource = { memoryMiB: 1024, vcores: 1, others: { "yarn.io/gpu": 2 } };
  const given = [1, 1, 2].map((priority) => scenario.container(priority, { resource }));
  scenario.on({ type: "containers-allocated", containers: given });
  const held = () => scenario.core.state.usage;
  expect(held()).toMatchObject({ memoryMiB: 3 * 1024, vcores: 3, gpus: 6, memoryMiBMs: 0 });
  scenario.nowMs += 1_000;
  scenario.completes("c1", 0);
  expect(held()).toMatchObject({ memoryMiB: 2 * 1024, vcores: 2, memoryMiBMs: 3 * 1024 * 1_000, vcoreMs: 3_000 });
  expect(held()).toMatchObject({ gpus: 4, gpuMs: 6_000 });
  scenario.nowMs += 1_000;
  scenario.completes("c2", 0);
  expect(held()).toMatchObject({ memoryMiB: 1024, vcores: 1, memoryMiBMs: 5 * 1024 * 1_000, vcoreMs: 5_000 });
});
