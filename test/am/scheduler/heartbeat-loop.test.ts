import { describe, expect, test } from "@jest/globals";
import { HeartbeatPace } from "../../../am/scheduler/yarn/heartbeat-loop.ts";

/** When heartbeats are sent, in milliseconds from the asking on. */
function heartbeats(pace: HeartbeatPace, { forMs, awaited }: { forMs: number; awaited: boolean }): number[] {
  const sentAtMs: number[] = [];
  for (let nowMs = 0; nowMs < forMs; nowMs += pace.next(awaited, nowMs)) sentAtMs.push(nowMs);
  return sentAtMs;
}

describe("the pace of heartbeats to the ResourceManager", () => {
  test("is one a second while nothing is awaited", () => {
    expect(heartbeats(new HeartbeatPace(), { forMs: 60_000, awaited: false })).toHaveLength(60);
  });

  test("is five a second while containers are awaited that a cluster with room gives at once", () => {
    expect(heartbeats(new HeartbeatPace(), { forMs: 6_000, awaited: true })).toHaveLength(30);
  });

  test("is at most one a second after half a minute, and falls to one in two", () => {
    const sentAtMs = heartbeats(new HeartbeatPace(), { forMs: 600_000, awaited: true });
    const pauses = sentAtMs.slice(1).map((atMs, index) => atMs - (sentAtMs[index] ?? 0));
    const after30s = pauses.slice(sentAtMs.findIndex((atMs) => atMs >= 30_000));
    expect(Math.min(...after30s)).toBeGreaterThanOrEqual(1_000);
    expect(after30s.at(-1)).toBe(2_000);
  });

  test("begins anew when everything has come", () => {
    const pace = new HeartbeatPace();
    heartbeats(pace, { forMs: 600_000, awaited: true });
    pace.next(false, 600_000);
    expect(pace.next(true, 601_000)).toBe(200);
  });
});
