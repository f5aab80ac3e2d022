import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../am/core/state/effects.ts";
import { jobSpec, role } from "../../simulation/job.ts";
import { Scenario, typesOf } from "./scenario.ts";

/** Two workers run, of which the first has reported a step. */
function running(): Scenario {
  const scenario = new Scenario(jobSpec([role("worker", 2)]));
  scenario.toRunning();
  progress(scenario);
  return scenario;
}

function progress(scenario: Scenario): Effect[] {
  const { containerId, generation } = scenario.task("worker:0");
  return scenario.on({ type: "child-progress", task: "worker:0", containerId, generation, step: 7, atMs: 0 });
}

describe("a status is published anew", () => {
  test.each<[string, (scenario: Scenario) => Effect[]]>([
    ["a program reports how far it is, also where that is as before", progress],
    ["an executor is not heard", (scenario) => scenario.silent("worker:0", 6_000)],
    ["it is heard again", (scenario) => [scenario.silent("worker:0", 6_000), scenario.back("worker:0")][1] ?? []],
    ["a program ends", (scenario) => scenario.exits("worker:0")],
    ["a container ends", (scenario) => scenario.completes("c1", -100)],
    [
      "the queue's room changes",
      (scenario) => scenario.on({ type: "headroom-changed", available: { memoryMiB: 1, vcores: 1, others: {} } }),
    ],
    [
      "the journal cannot be written",
      (scenario) => {
        scenario.journalWorks = false;
        return scenario.exits("worker:1", { exitCode: 1 });
      },
    ],
  ])("when %s", (_, happens) => {
    expect(typesOf(happens(running()))).toContain("publish-status");
  });

  test("and not where nothing has changed", () => {
    const scenario = running();
    expect(typesOf(scenario.on({ type: "journal-written", sequence: 0 }))).toEqual([]);
    expect(typesOf(scenario.on({ type: "launch-succeeded", containerId: "c1" }))).toEqual([]);
  });
});

test("a job that is over decides nothing any more", () => {
  const scenario = running();
  scenario.on({ type: "resource-manager-shutdown", reason: "another attempt" });
  expect(scenario.on({ type: "stop-requested", reason: "enough" })).toEqual([]);
  expect(scenario.core.state.outcome).toBeUndefined();
});
