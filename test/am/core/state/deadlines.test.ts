import { describe, expect, test } from "@jest/globals";
import {
  awaitNoMore,
  awaitOf,
  dueMsOf,
  isTakingOver,
  notePause,
  noteTakeover,
  rejoinLeftMs,
  returnEndsAtMs,
  setBack,
} from "../../../../am/core/state/deadlines.ts";
import { newStep } from "../../../../am/core/state/step.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 2)]);
const spec = { ...base, timeouts: { ...base.timeouts, verdictMs: 15_000 } };

/** A job that runs in containers c1 and c2, and a step of it at that time. */
function at(nowMs: number, change: (scenario: Scenario) => void = () => undefined) {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  change(scenario);
  const { state } = scenario.core;
  const { applicationId, attempt, amHost, amContainerId, startedAtMs } = state;
  const identity = { applicationId, attempt, amHost, amContainerId, startedAtMs, nodeHeartbeatMs: 1_000 };
  const step = newStep(spec, identity, state, "throw");
  step.nowMs = nowMs;
  const { c1, c2 } = state.containers;
  if (c1 === undefined || c2 === undefined) {
    throw new Error("a job without its containers");
  }
  return { step, state, c1, c2 };
}

const twenty = () => ({ sinceMs: 10_000, dueMs: 20_000 });

test("what is awaited of a container replaces what was awaited before, and the first of all is looked at first", () => {
  const { step, state, c1, c2 } = at(1_000);
  state.wakeUp.containersMs = 0;
  awaitOf(step, c1, "start", 5_000);
  expect(state.wakeUp.containersMs).toBe(6_000);
  awaitOf(step, c2, "start", 3_000);
  awaitOf(step, c1, "start", 9_000);
  expect(state.wakeUp.containersMs).toBe(4_000);
  expect(c1.deadlines).toEqual({ start: { sinceMs: 1_000, dueMs: 10_000 } });
  awaitOf(step, c1, "progress", 1);
  awaitOf(step, c1, "launch", 1);
  awaitNoMore(c1, "start", "launch");
  expect(Object.keys(c1.deadlines)).toEqual(["progress"]);
});

describe("a deadline that was set before a pause of this process", () => {
  const pause = { endedAtMs: 15_000, graceMs: 10_000 };

  test("ends when everything that still exists has been heard again, unless it is later", () => {
    expect(dueMsOf({ pause }, twenty())).toBe(25_000);
    expect(dueMsOf({ pause }, { sinceMs: 10_000, dueMs: 30_000 })).toBe(30_000);
  });

  test("is not one that was set when it ended", () => {
    expect(dueMsOf({ pause }, { sinceMs: 15_000, dueMs: 20_000 })).toBe(20_000);
  });
});

describe("the time in which executors look for this attempt", () => {
  test("is that of their return and of YARN's word after a takeover, and a pause meanwhile makes it no shorter", () => {
    const { step, state } = at(1_000);
    noteTakeover(step);
    expect(returnEndsAtMs(state)).toBe(61_000);
    step.nowMs = 2_000;
    notePause(step);
    expect(state.pause).toEqual({ endedAtMs: 2_000, graceMs: 59_000 });
  });

  test("is that of a silence after a pause, and begins anew with another one", () => {
    const { step, state } = at(100_000);
    notePause(step);
    const { graceMs } = state.pause;
    expect(graceMs).toBeGreaterThan(0);
    step.nowMs = 101_000;
    notePause(step);
    expect(state.pause).toEqual({ endedAtMs: 101_000, graceMs });
  });

  test("is a takeover's in a later attempt alone, and while it lasts", () => {
    const { step, state } = at(1_000);
    noteTakeover(step);
    expect(isTakingOver(step)).toBe(false);
    const later = { ...step, state: { ...state, attempt: 2 } };
    expect(isTakingOver({ ...later, nowMs: 60_999 })).toBe(true);
    expect(isTakingOver({ ...later, nowMs: 61_000 })).toBe(false);
  });

  test("is left as long as the last one that still looks for it may take", () => {
    const { step, c1, c2 } = at(12_000);
    expect(rejoinLeftMs(step)).toBe(0);
    c1.deadlines.rejoin = twenty();
    expect(rejoinLeftMs(step)).toBe(0);
    c1.link = "rejoining";
    c2.link = "rejoining";
    c2.deadlines.rejoin = { sinceMs: 10_000, dueMs: 15_000 };
    expect(rejoinLeftMs(step)).toBe(8_000);
    step.nowMs = 21_000;
    expect(rejoinLeftMs(step)).toBe(0);
  });
});

describe("where the clock of the attempt before was ahead", () => {
  test("everything that is still to come, of containers, gangs, groups and the end, comes earlier by that", () => {
    const { state, c1 } = at(1_000, (scenario) => {
      scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    });
    const [gang] = state.gangs;
    const verdict = gang?.verdicts[0];
    if (gang === undefined || verdict === undefined) {
      throw new Error("no verdict is open");
    }
    c1.deadlines.prepare = twenty();
    gang.stopDeadline = twenty();
    gang.restDeadline = twenty();
    gang.hold.deadline = twenty();
    verdict.deadline = twenty();
    state.groupDeadlines[0] = twenty();
    state.finishDeadline = twenty();
    gang.startNotBeforeMs = 20_000;
    gang.graceEndsAtMs = 20_000;
    gang.hold.askAgainAtMs = 20_000;
    gang.hold.pausedAtMs = 20_000;
    setBack(state, 3_000);
    const earlier = { sinceMs: 7_000, dueMs: 17_000 };
    expect(c1.deadlines.prepare).toEqual(earlier);
    expect(gang).toMatchObject({ stopDeadline: earlier, restDeadline: earlier, verdicts: [{ deadline: earlier }] });
    expect(gang).toMatchObject({ startNotBeforeMs: 17_000, graceEndsAtMs: 17_000 });
    expect(gang.hold).toMatchObject({ deadline: earlier, askAgainAtMs: 17_000, pausedAtMs: 17_000 });
    expect(state.groupDeadlines[0]).toEqual(earlier);
    expect(state.finishDeadline).toEqual(earlier);
  });

  test("what has no time gets none", () => {
    const { state } = at(1_000);
    setBack(state, 3_000);
    expect(state.gangs).toMatchObject([
      { startNotBeforeMs: 0, graceEndsAtMs: 0, hold: { askAgainAtMs: 0, pausedAtMs: 0 } },
    ]);
  });
});
