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
    expect(words(scenario.on({ type: "stop-requested", reason: "enough" }))).toEqual([]);
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
