import { describe, expect, it } from "@jest/globals";
import { createExecutorCore } from "../../../executor/core/core.ts";
import type { Event } from "../../../executor/core/events.ts";

/** As a job of 10,000 tasks has it (src/job/build/build-spec.ts). */
const TASKS = 10_000;
const LIMITS_OF_MANY = { orphanMs: 780_000, isolationMs: 700_000 };

/** An executor that has just lost its ApplicationMaster, which answers nothing; the staging folder does. */
function lost(random: () => number, limits = { orphanMs: 780_000, isolationMs: 30_000 }) {
  const core = createExecutorCore({ attempt: 1, address: "node-1:4000" }, limits);
  const heard = { looks: 0, isCutOff: false };
  let nowMs = 0;
  const post = (event: Event) => {
    for (const effect of core.step(event, { nowMs, random: random() })) {
      heard.isCutOff ||= effect.type === "hold-uploads";
      if (effect.type !== "look") continue;
      heard.looks += 1;
      post({ type: "looked", absence: effect.absence, news: { isReplaced: false } });
    }
  };
  const pass = (seconds: number) => {
    const untilMs = nowMs + seconds * 1000;
    for (let dueMs = core.wakeAtMs; dueMs !== undefined && dueMs <= untilMs; dueMs = core.wakeAtMs) {
      nowMs = dueMs;
      post({ type: "woken" });
    }
    nowMs = untilMs;
  };
  post({ type: "begun" });
  return { heard, pass };
}

describe("an executor without an ApplicationMaster that reaches the staging folder", () => {
  it.each([0, 0.99])("is not cut off, however long, by chance %d", (random) => {
    const { heard, pass } = lost(() => random);
    pass(700);
    expect(heard.isCutOff).toBe(false);
    expect(heard.looks).toBeGreaterThan(40);
  });

  it("looks so seldom that 10,000 of them ask a NameNode 50 times a second at most", () => {
    const sample = TASKS / 10;
    const draw = linearCongruence();
    const executors = Array.from({ length: sample }, () => lost(draw, LIMITS_OF_MANY));
    const looks = () => executors.reduce((sum, { heard }) => sum + heard.looks, 0) * (TASKS / sample);
    for (let minute = 0; minute < 12; minute += 1) {
      const before = looks();
      for (const { pass } of executors) pass(60);
      expect((looks() - before) / 60).toBeLessThanOrEqual(50);
    }
    expect(looks()).toBeGreaterThan(TASKS);
  });
});

/** The same draws from 0 to 1 in every run. */
function linearCongruence(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
