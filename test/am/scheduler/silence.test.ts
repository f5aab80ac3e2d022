import { describe, expect, test } from "@jest/globals";
import { ResourceManagerSilence } from "../../../am/scheduler/yarn/silence.ts";
import type { Log } from "../../../src/log.ts";
import { silentLog } from "../../support/silent-log.ts";
import { SteppedClock } from "../../support/stepped-clock.ts";

const refused = new Error("connection refused");

function setUp() {
  const clock = new SteppedClock();
  const lines: string[] = [];
  const told = (event: string, message: string) => void lines.push(`${event}: ${message}`);
  const log: Log = { ...silentLog, info: told, warn: told };
  const endpoints = [
    { host: "rm1", port: 8030 },
    { host: "rm2", port: 8030 },
  ];
  const silence = new ResourceManagerSilence({ endpoints, clock, log });
  /** A call is tried again and again for so long. */
  const lasts = async (durationMs: number, stepMs: number) => {
    for (let passedMs = 0; passedMs < durationMs; passedMs += stepMs) {
      silence.goesOn(refused, 0);
      await clock.pass(stepMs);
    }
  };
  return { clock, silence, lines, lasts };
}

describe("a ResourceManager that does not answer", () => {
  test("is told of once at the start: which, since when, why, and what happens meanwhile", async () => {
    const { clock, silence, lines, lasts } = setUp();
    const since = new Date(clock.nowMs()).toISOString();
    await lasts(10_000, 500);
    expect(lines).toEqual([
      `resource-manager-silent: The ResourceManager (rm1:8030, rm2:8030) has not answered for 1 s, since ${since}: connection refused. Meanwhile programs keep running, and whatever needs containers waits; the AM keeps asking.`,
    ]);
    expect(silence.waits).toEqual([
      {
        reason: { code: "manager" },
        delays: [
          { code: "manager-unreachable", endpoints: "rm1:8030, rm2:8030", error: "connection refused" },
          { code: "asked-without-end" },
        ],
        cause: "the ResourceManager's answer",
        what: "the ResourceManager's answer",
        sinceMs: clock.nowMs() - 10_000,
        reasons: [
          "rm1:8030, rm2:8030 cannot be reached from the AM: connection refused",
          "programs keep running, and whatever needs containers waits; the AM keeps asking",
        ],
      },
    ]);
  });

  test("is told of again with growing pauses, and when it is back", async () => {
    const { silence, lines, lasts } = setUp();
    await lasts(3_600_000, 1_000);
    silence.ends();
    const durations = lines.map((line) => / (?:for|after) ([^,.]+)[,.]/.exec(line)?.[1]);
    expect(durations).toEqual([
      "1 s",
      "31 s",
      "1 min 31 s",
      "3 min 31 s",
      "7 min 31 s",
      "15 min 31 s",
      "30 min 31 s",
      "45 min 31 s",
      "1 h",
    ]);
    expect(lines.at(-1)).toBe("resource-manager-back: The ResourceManager answers again, after 1 h.");
  });

  test("is told as soon, and with pauses as short, when it is silent again", async () => {
    const { silence, lines, lasts } = setUp();
    const durations = [];
    for (let silences = 0; silences < 2; silences += 1) {
      await lasts(100_000, 1_000);
      silence.ends();
      durations.push(lines.splice(0).map((line) => / (?:for|after) ([^,.]+)[,.]/.exec(line)?.[1]));
    }
    const once = ["1 s", "31 s", "1 min 31 s", "1 min 40 s"];
    expect(durations).toEqual([once, once]);
  });

  test("is nothing worth a word when a single answer was lost", async () => {
    const { silence, lines, clock } = setUp();
    silence.goesOn(refused, 0);
    await clock.pass(300);
    silence.ends();
    silence.goesOn(refused, 0);
    await clock.pass(300);
    silence.ends();
    expect(lines).toEqual([]);
    expect(silence.waits).toEqual([]);
  });

  test("counts from when the call was made that nobody answered", async () => {
    const { silence, lines } = setUp();
    silence.goesOn(refused, 5_000);
    expect(lines).toEqual([expect.stringContaining("has not answered for 5 s")]);
  });
});
