import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario, sentOf } from "../scenario.ts";

/** Three tasks, and room for two of them. */
function crowded() {
  const scenario = new Scenario(jobSpec([role("worker", 3)], { distributedMode: "fcfs" }));
  scenario.register();
  const kept = [scenario.container(1), scenario.container(1)];
  scenario.on({ type: "containers-allocated", containers: kept });
  scenario.ready("worker:0");
  scenario.ready("worker:1");
  scenario.startedAll();
  return { scenario, kept };
}

const relaunched = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.type === "relaunch" ? effect.launches.map(({ task }) => task) : []));

const released = (effects: readonly Effect[]) =>
  effects.flatMap((effect) => (effect.type === "release" ? effect.containerIds : []));

describe("a task that has succeeded where each task starts when it can", () => {
  test("leaves its container to one that waits, and otherwise to the cluster", () => {
    const { scenario } = crowded();
    expect(relaunched(scenario.exits("worker:0"))).toEqual(["worker:2"]);
    expect(released(scenario.exits("worker:1"))).toEqual(["c2"]);
    expect(sentOf(scenario.ready("worker:2"), "start-child")).toEqual(["worker:2"]);
    scenario.exits("worker:2");
    expect(scenario.job).toMatchObject({ outcome: { result: "succeeded" } });
  });

  test("keeps its container until the journal knows how it ended, and leaves it in a later attempt too", () => {
    const { scenario, kept } = crowded();
    scenario.journalWorks = false;
    expect(relaunched(scenario.exits("worker:0"))).toEqual([]);
    scenario.journalWorks = true;
    expect(relaunched(scenario.after(1_000))).toEqual(["worker:2"]);
    scenario.crash(kept);
    expect(scenario.phases()).toContain("worker:0 succeeded");
  });

  test("is told no addresses: there are none that wait for it", () => {
    const { scenario } = crowded();
    const specs = scenario.effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "start-child" ? [effect.message.clusterSpec] : [],
    );
    expect(specs).toEqual([
      { generation: 1, tasks: [] },
      { generation: 1, tasks: [] },
    ]);
  });

  test("keeps its container where the gang may restart the task", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.toRunning();
    expect(released(scenario.exits("worker:0"))).toEqual([]);
  });
});
