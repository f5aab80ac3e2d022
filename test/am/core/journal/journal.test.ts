import { describe, expect, test } from "@jest/globals";
import type { Effect } from "../../../../am/core/state/effects.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { idleNode, Scenario, sentOf, typesOf } from "../scenario.ts";

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

test("what nothing waits for is written 200 ms after the last write began, together with what came meanwhile", () => {
  const scenario = new Scenario(jobSpec([role("worker", 4)]));
  scenario.toRunning();
  scenario.after(1_000);
  expect(typesOf(scenario.exits("worker:0"))).toContain("journal");
  scenario.after(50);
  expect(typesOf(scenario.exits("worker:1"))).not.toContain("journal");
  expect(typesOf(scenario.exits("worker:2"))).not.toContain("journal");
  expect(typesOf(scenario.after(149))).not.toContain("journal");
  expect(typesOf(scenario.after(1)).filter((type) => type === "journal")).toHaveLength(1);
  expect(scenario.journal).toMatchObject({
    writtenAtMs: scenario.nowMs,
    sequence: scenario.core.state.journal.durableSequence,
    tasks: [{ phase: "succeeded" }, { phase: "succeeded" }, { phase: "succeeded" }, { phase: "running" }],
  });
  expect(typesOf(scenario.after(60_000))).not.toContain("journal");
});

describe("a journal that cannot be written", () => {
  const told = (effects: readonly Effect[]) =>
    effects.flatMap((effect) =>
      effect.type === "log" && effect.event.startsWith("journal-") ? [`${effect.level}: ${effect.message}`] : [],
    );

  /** The gang is complete, and does not start. */
  function failing(): Scenario {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.register();
    scenario.allocateAll();
    scenario.after(1_000);
    scenario.journalWorks = false;
    scenario.readyAll();
    return scenario;
  }

  test("is told once, and once more when it can be written again", () => {
    const scenario = failing();
    scenario.after(3_000);
    const cannot = "warn: The journal cannot be written, new generations wait for it: safe mode";
    expect(told(scenario.effects)).toEqual([cannot]);
    scenario.journalWorks = true;
    expect(told(scenario.after(1_000))).toEqual(["info: The journal can be written again."]);
    scenario.journalWorks = false;
    scenario.startedAll();
    scenario.after(1_000);
    scenario.journalWorks = true;
    scenario.after(1_000);
    expect(told(scenario.effects)).toHaveLength(4);
  });

  test("is what the start waits for since its first failure, with the reason of the last one", () => {
    const scenario = failing();
    const sinceMs = scenario.nowMs;
    scenario.after(1_999);
    scenario.journalAnswers = false;
    const { sequence } = written(scenario.after(1));
    const effects = scenario.on({ type: "journal-failed", sequence, message: "no space left" });
    expect(typesOf(effects)).toContain("publish-status");
    const { waits } = statusOf(scenario.core, scenario.nowMs);
    expect(waits).toEqual([expect.objectContaining({ sinceMs, reasons: [expect.stringContaining("no space left")] })]);
  });

  test("did not fail because an earlier write had", () => {
    const scenario = running();
    const { sequence } = written(scenario.exits("worker:1", { exitCode: 1 }));
    expect(scenario.on({ type: "journal-failed", sequence: sequence - 1, message: "safe mode" })).toEqual([]);
    expect(sentOf(scenario.on({ type: "journal-written", sequence }), "prepare")).toContain("worker:1");
  });
});

test("a later attempt writes nothing before it has read what the earlier one left", () => {
  const scenario = running();
  scenario.journalAnswers = true;
  const leaving = { ...idleNode("n1"), usable: false, decommissioning: { timeoutMs: 60_000 } };
  const before = scenario.effects.length;
  const { sequence } = scenario.core.state.journal;
  scenario.crash([], [{ type: "nodes-changed", nodes: [leaving] }, { type: "wake-up" }]);
  const effects = scenario.effects.slice(before);
  const recoveredAt = effects.findIndex((effect) => effect.type === "log" && effect.event === "recovered");
  expect(typesOf(effects.slice(0, recoveredAt))).not.toContain("journal");
  expect(written(effects.slice(recoveredAt)).sequence).toBe(sequence + 1);
});

test("a snapshot does not change while it is being written", () => {
  const scenario = running();
  const { snapshot } = written(scenario.exits("worker:1", { exitCode: 1 }));
  const before = JSON.stringify(snapshot);
  scenario.stops("worker:0");
  expect(JSON.stringify(snapshot)).toBe(before);
});
