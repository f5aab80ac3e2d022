import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario, sentOf, typesOf } from "../scenario.ts";

type Write = Extract<Effect, { type: "journal" }>;

/** A job that runs, whose journal's writes are the test's to answer. */
function running(): Scenario {
  const scenario = new Scenario(jobSpec([role("worker", 2)]));
  scenario.toRunning();
  scenario.after(1_000);
  scenario.journalAnswers = false;
  return scenario;
}

function written(effects: readonly Effect[]): Write {
  const write = effects.find((effect) => effect.type === "journal");
  if (write === undefined) {
    throw new Error("nothing was written");
  }
  return write;
}

describe("an acknowledgement of the journal", () => {
  test("counts for what was written, not for what was decided meanwhile", () => {
    const scenario = running();
    const { sequence } = written(scenario.exits("worker:0"));
    expect(sentOf(scenario.exits("worker:1", { exitCode: 1 }), "prepare")).toEqual([]);
    const effects = scenario.on({ type: "journal-written", sequence });
    expect(sentOf(effects, "prepare")).toEqual([]);
    const next = written(effects).sequence;
    expect(sentOf(scenario.on({ type: "journal-written", sequence: next }), "prepare")).toContain("worker:1");
  });

  test("of an earlier write says nothing about the one under way", () => {
    const scenario = running();
    const { sequence } = written(scenario.exits("worker:1", { exitCode: 1 }));
    scenario.stops("worker:0");
    scenario.after(5_000);
    const effects = scenario.on({ type: "journal-written", sequence: sequence - 1 });
    expect(sentOf(effects, "prepare")).toEqual([]);
    // One is written after the other.
    expect(typesOf(effects)).not.toContain("journal");
    expect(sentOf(scenario.on({ type: "journal-written", sequence }), "prepare")).toContain("worker:1");
  });
});

test("a write that failed is tried again a second later each time, even if a start waits for the next one", () => {
  const scenario = running();
  let effects = scenario.exits("worker:0");
  scenario.exits("worker:1", { exitCode: 1 });
  for (let failures = 1; failures <= 3; failures += 1) {
    const { sequence } = written(effects);
    expect(typesOf(scenario.on({ type: "journal-failed", sequence, message: "safe mode" }))).not.toContain("journal");
    expect(typesOf(scenario.after(999))).not.toContain("journal");
    effects = scenario.after(1);
  }
  const { sequence } = written(effects);
  expect(sentOf(scenario.on({ type: "journal-written", sequence }), "prepare")).toContain("worker:1");
});

test("a snapshot does not change while it is being written", () => {
  const scenario = running();
  const { snapshot } = written(scenario.exits("worker:1", { exitCode: 1 }));
  const before = JSON.stringify(snapshot);
  scenario.stops("worker:0");
  expect(JSON.stringify(snapshot)).toBe(before);
});
