import { describe, expect, test } from "@jest/globals";
import { statusOf } from "../../../../am/core/status/status.ts";
import type { Constrained } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { asksOf, Scenario } from "../scenario.ts";

const constrained: Constrained = {
  tags: ["w"],
  constraint: { kind: "tags", scope: "node", min: 0, max: 0, tags: [{ tag: "w" }] },
};
const sources = { "tony.worker.placement-spec": "job.xml:4", "tony.worker.allocation-tags": "job.xml:5" };
const spec = { ...jobSpec([{ ...role("worker", 3), constrained }]), sources };

function started(): Scenario {
  const scenario = new Scenario(spec);
  const size = { memoryMiB: 8192, vcores: 8, others: {} };
  const node = { nodeId: "a:1", host: "a", rack: "/r", usable: true, labels: [], free: size, total: size };
  scenario.on({ type: "nodes-changed", nodes: [node] });
  return scenario;
}
const reasonsOf = ({ core, nowMs }: Scenario) => statusOf(core, nowMs).waits[0]?.reasons;

describe("a role with placement constraints", () => {
  test("is asked for with its constraint, and no host is named although there are fewer hosts than containers", () => {
    expect(asksOf(started().register())).toMatchObject([{ count: 3, constrained, hosts: [], racks: [] }]);
  });

  test("waits, and names the key that may be the reason", () => {
    const scenario = started();
    scenario.register();
    expect(reasonsOf(scenario)).toContain(
      "they may be placed only where tony.worker.placement-spec (job.xml:4) allows",
    );
  });

  test("is asked for again after a while when YARN finds no place, and says so until one comes", () => {
    const scenario = started();
    scenario.register();
    const noPlace = "YARN has no place for them at present that the job's placement constraints allow";
    const refused = { type: "ask-unplaced", role: "worker", count: 2 } as const;
    const effects = scenario.on(refused);
    expect(asksOf(effects)).toEqual([]);
    const message =
      "YARN finds no place for 2 containers of worker that the job's placement constraints allow; it is asked again.";
    expect(effects).toContainEqual({ type: "log", level: "warn", event: "ask-unplaced", message });
    expect(scenario.on({ ...refused, role: "nobody" })).toEqual([]);
    expect(reasonsOf(scenario)).toContain(noPlace);
    expect(asksOf(scenario.after(9_000))).toEqual([]);
    expect(asksOf(scenario.after(1_000))).toMatchObject([{ role: "worker", count: 3 }]);
    expect(reasonsOf(scenario)).toContain(noPlace);
    scenario.allocateAll();
    expect(scenario.core.state.asks[0]?.refusal).toBeUndefined();
  });

  test("ends the job with the keys to remove where the cluster takes no constraints", () => {
    const scenario = started();
    scenario.register();
    scenario.on({ type: "constraints-refused", message: "no handler" });
    expect(scenario.core.state.outcome?.summary).toBe(
      "the cluster does not accept placement constraints: remove tony.worker.placement-spec (job.xml:4), tony.worker.allocation-tags (job.xml:5), or have yarn.resourcemanager.placement-constraints.handler set to scheduler (CapacityScheduler). The ResourceManager says: no handler",
    );
  });
});
