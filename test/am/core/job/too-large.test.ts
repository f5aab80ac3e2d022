import { describe, expect, test } from "@jest/globals";
import type { NodeView } from "../../../../am/core/state/events.ts";
import type { Resource } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, Scenario, typesOf } from "../scenario.ts";

const large: Resource = { memoryMiB: 9000, vcores: 1, others: { "yarn.io/gpu": 2 } };
const spec = jobSpec([role("worker", 2, { resource: large }), role("ps", 1)]);
const configured: Resource = { memoryMiB: 16384, vcores: 8, others: {} };
const allowed: Resource = { memoryMiB: 8192, vcores: 8, others: {} };

function node(host: string, total: Resource, change: Partial<NodeView> = {}): NodeView {
  return { nodeId: `${host}:1`, host, rack: "/rack", usable: true, labels: [], free: total, total, ...change };
}
const big = { memoryMiB: 24000, vcores: 8, others: { "yarn.io/gpu": 4 } };

/** A job whose workers are larger than any container that YARN gives. */
function refused(change: { readonly configured?: Resource } = { configured }): Scenario {
  const scenario = new Scenario(spec);
  scenario.on({ type: "nodes-changed", nodes: [node("small", allowed)] });
  scenario.register({ resourceTypes: ["yarn.io/gpu"] });
  scenario.on({ type: "ask-too-large", role: "worker", message: "too large", allowed, ...change });
  return scenario;
}

const rolesOf = (effects: ReturnType<Scenario["on"]>) => asksOf(effects).map((ask) => ask.role);

describe("containers larger than any that YARN gives", () => {
  test("are waited for, and not asked for again while nothing has changed", () => {
    const scenario = refused();
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.on({ type: "nodes-changed", nodes: [node("another", allowed)] });
    expect(rolesOf(scenario.after(59_000))).not.toContain("worker");
    expect(rolesOf(scenario.after(1_000))).toEqual(["worker"]);
  });

  test("are asked for as soon as a node is there that is large enough", () => {
    const scenario = refused();
    const away = scenario.on({ type: "nodes-changed", nodes: [node("gpu", big, { usable: false })] });
    expect(rolesOf(away)).not.toContain("worker");
    const elsewhere = node("gpu", big, { labels: ["other"] });
    expect(rolesOf(scenario.on({ type: "nodes-changed", nodes: [elsewhere] }))).not.toContain("worker");
    const effects = scenario.on({ type: "nodes-changed", nodes: [node("gpu", big)] });
    expect(asksOf(effects)).toMatchObject([
      { role: "worker", count: 2 },
      { role: "ps", count: 1 },
    ]);
  });

  test("do not hold back the other containers meanwhile, and run with them once they are given", () => {
    const scenario = refused();
    expect(scenario.core.state.asks.map(({ outstanding }) => outstanding)).toEqual([0, 0]);
    scenario.on({ type: "nodes-changed", nodes: [node("gpu", big)] });
    scenario.allocateAll();
    scenario.readyAll();
    expect(scenario.core.state.tasks.map(({ phase }) => phase)).toEqual(["starting", "starting", "starting"]);
  });

  test("are asked for again by a ResourceManager that has restarted", () => {
    const effects = refused().on({ type: "resource-manager-resynced" });
    expect(asksOf(effects)).toMatchObject([
      { role: "worker", count: 2 },
      { role: "ps", count: 0 },
    ]);
  });

  test("are reported once in the log", () => {
    const scenario = refused();
    scenario.after(60_000);
    const again = scenario.on({ type: "ask-too-large", role: "worker", message: "too large" });
    expect(typesOf(again)).not.toContain("log");
  });

  test("fail the job where even the configured maximum is smaller, naming the key and its place", () => {
    const summaryWith = (most: Partial<Resource>) =>
      refused({ configured: { ...configured, ...most } }).core.state.outcome?.summary;
    expect(summaryWith({ memoryMiB: 8192 })).toBe(
      "tony.worker.memory (job.xml:16) asks for 8.79 GiB a container; the cluster gives at most 8 GiB",
    );
    expect(summaryWith({ vcores: 0 })).toContain("tony.worker.vcores");
    expect(summaryWith({ others: { "yarn.io/gpu": 1 } })).toBe(
      "role worker asks for 2 of yarn.io/gpu a container; the cluster gives at most 1",
    );
  });

  test("are waited for where the configured maximum is just what they ask for", () => {
    expect(refused({ configured: large }).core.state.outcome).toBeUndefined();
  });

  test("fail the job for any type of which the maximum has too little, whatever stands before it", () => {
    const others = { "yarn.io/fpga": 1, "yarn.io/gpu": 2 };
    const scenario = new Scenario(jobSpec([role("worker", 1, { resource: { ...large, others } })]));
    scenario.register({ resourceTypes: ["yarn.io/fpga", "yarn.io/gpu"] });
    const most = { ...configured, others: { "yarn.io/fpga": 4, "yarn.io/gpu": 1 } };
    scenario.on({ type: "ask-too-large", role: "worker", message: "too large", allowed, configured: most });
    expect(scenario.core.state.outcome?.summary).toContain("asks for 2 of yarn.io/gpu");
  });

  test("are asked for as soon as a node is large enough for one of those that are refused", () => {
    const scenario = refused();
    scenario.on({ type: "ask-too-large", role: "ps", message: "too large", allowed, configured });
    const small = node("small", { memoryMiB: 2048, vcores: 2, others: {} });
    expect(rolesOf(scenario.on({ type: "nodes-changed", nodes: [small] }))).toEqual([]);
    const [, ps] = scenario.core.state.asks;
    expect(ps?.refusal?.untilMs).toBe(scenario.nowMs);
  });

  test("of a role that the job has not are no news", () => {
    const scenario = new Scenario(spec);
    scenario.register();
    const event = { type: "ask-too-large", role: "nobody", message: "too large", allowed, configured } as const;
    expect(scenario.on(event)).toEqual([]);
  });

  test("are waited for where the configured maximum is unknown", () => {
    expect(refused({}).core.state.outcome).toBeUndefined();
  });
});
