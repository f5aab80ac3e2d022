import { expect, test } from "@jest/globals";
import { silenceNoticedMs, silentAfterMs, stopWithinMs } from "../../src/job/silence.ts";

const beats = { heartbeatIntervalMs: 1_000, heartbeatExpiryMs: 10_000 };

test("an executor is silent after three heartbeats that did not come, and never later than it counts as lost", () => {
  expect(silentAfterMs(beats)).toBe(3_000);
  expect(silentAfterMs({ ...beats, heartbeatExpiryMs: 2_500 })).toBe(2_500);
});

test("its silence is noticed once what it sent before must have been read", () => {
  expect(silenceNoticedMs(beats)).toBe(5_000);
});

test("it may take the grace period, and as long as it takes to stop a program, or to notice that it is silent", () => {
  expect(stopWithinMs({ ...beats, stopGraceMs: 10_000 })).toBe(15_000);
  expect(stopWithinMs({ heartbeatIntervalMs: 4_000, heartbeatExpiryMs: 60_000, stopGraceMs: 10_000 })).toBe(24_000);
});
