import { describe, expect, test } from "@jest/globals";
import { AttemptWatch } from "../../am/attempt-watch.ts";
import { SteppedClock } from "../support/stepped-clock.ts";

const EXPIRY_MS = 600_000;
const ISOLATION_MS = 30_000;
const TICK_MS = 1_000;

/** Attempt 1; `latest`: what the staging folder says. */
function watching(latest: () => Promise<number>, expiryMs = EXPIRY_MS) {
  const clock = new SteppedClock();
  const reasons: string[] = [];
  let looks = 0;
  let silentSinceMs: number | undefined;
  let hasStoodStill = false;
  const watch = new AttemptWatch({
    attempt: 1,
    expiryMs,
    isolationMs: ISOLATION_MS,
    clock,
    answeredAtMs: () => silentSinceMs ?? clock.nowMs(),
    latestAttempt: () => {
      looks++;
      return latest();
    },
    over: (reason) => void reasons.push(reason),
  });
  return {
    reasons,
    looks: () => looks,
    falls: (silent: boolean) => {
      silentSinceMs = silent ? clock.nowMs() : undefined;
    },
    standsStill: (ms: number) => {
      clock.standStill(ms);
      hasStoodStill = true;
    },
    passes: async (ms: number) => {
      for (let passedMs = 0; passedMs < ms; passedMs += TICK_MS) {
        await clock.pass(TICK_MS);
        if (hasStoodStill) watch.stoodStill();
        hasStoodStill = false;
        watch.tick();
      }
    },
  };
}

const unreachable = () => Promise.reject(new Error("no NameNode answers"));

describe("an attempt whose ResourceManager does not answer", () => {
  test("goes on as long as the staging folder tells of no later attempt", async () => {
    const { falls, passes, reasons } = watching(async () => 1);
    falls(true);
    await passes(3 * EXPIRY_MS);
    expect(reasons).toEqual([]);
  });

  test("is over when the staging folder tells of a later one", async () => {
    let latest = 1;
    const { falls, passes, reasons } = watching(async () => latest);
    falls(true);
    await passes(EXPIRY_MS);
    latest = 2;
    await passes(ISOLATION_MS);
    expect(reasons).toEqual(["Attempt 2 has taken over, and the ResourceManager does not answer."]);
  });

  test("looks at the staging folder three times in the time of an isolation, and once at a time", async () => {
    let answer = () => {};
    const { falls, passes, looks } = watching(
      () =>
        new Promise((resolve) => {
          answer = () => resolve(1);
        }),
    );
    falls(true);
    await passes(EXPIRY_MS - ISOLATION_MS);
    await passes((2 * ISOLATION_MS) / 3);
    expect(looks()).toBe(1);
    answer();
    await passes(TICK_MS);
    expect(looks()).toBe(2);
    answer();
    await passes(ISOLATION_MS / 3 - 2 * TICK_MS);
    expect(looks()).toBe(2);
    await passes(2 * TICK_MS);
    expect(looks()).toBe(3);
  });

  test("looks again after a look that failed", async () => {
    let latest: () => Promise<number> = unreachable;
    const { falls, passes, reasons, looks } = watching(() => latest());
    falls(true);
    await passes(EXPIRY_MS - ISOLATION_MS);
    expect(looks()).toBe(1);
    latest = async () => 2;
    await passes(ISOLATION_MS / 3);
    expect(reasons).toEqual(["Attempt 2 has taken over, and the ResourceManager does not answer."]);
  });

  test("gives way when YARN's time is up and the staging folder cannot be read either", async () => {
    const { falls, passes, reasons } = watching(unreachable);
    falls(true);
    await passes(EXPIRY_MS - TICK_MS);
    expect(reasons).toEqual([]);
    await passes(TICK_MS);
    expect(reasons).toEqual([
      "The ResourceManager has not answered for 10 min, and the staging folder cannot be read: another attempt may have taken over.",
    ]);
  });

  test("gives way when YARN's time is up, where that is shorter than the isolation time", async () => {
    const { falls, passes, reasons } = watching(unreachable, ISOLATION_MS / 2);
    falls(true);
    await passes(ISOLATION_MS / 2 - TICK_MS);
    expect(reasons).toEqual([]);
    await passes(TICK_MS);
    expect(reasons).toHaveLength(1);
  });

  test("gives way though the staging folder does not answer at all", async () => {
    const { falls, passes, reasons } = watching(() => new Promise(() => {}));
    falls(true);
    await passes(EXPIRY_MS);
    expect(reasons).toHaveLength(1);
  });

  test("has the isolation time again from the last time that it could read the staging folder", async () => {
    let isThere = true;
    const { falls, passes, reasons } = watching(async () => (isThere ? 1 : unreachable()));
    falls(true);
    await passes(EXPIRY_MS);
    isThere = false;
    await passes(ISOLATION_MS - 11_000);
    expect(reasons).toEqual([]);
    await passes(11_000);
    expect(reasons).toHaveLength(1);
  });

  test("looks nowhere before that time is near, nor while the ResourceManager answers", async () => {
    const { falls, passes, looks } = watching(unreachable);
    await passes(2 * EXPIRY_MS);
    falls(true);
    await passes(EXPIRY_MS - ISOLATION_MS - TICK_MS);
    expect(looks()).toBe(0);
    falls(false);
    await passes(EXPIRY_MS);
    expect(looks()).toBe(0);
  });

  test("counts YARN's time from the last answer, though it stood still meanwhile; it may look first", async () => {
    const { falls, passes, standsStill, reasons } = watching(unreachable);
    falls(true);
    standsStill(EXPIRY_MS);
    await passes(ISOLATION_MS);
    expect(reasons).toEqual([]);
    await passes(TICK_MS);
    expect(reasons).toHaveLength(1);
  });

  test("does not take its own standing still for silence", async () => {
    const { falls, passes, standsStill, reasons } = watching(async () => 1);
    falls(true);
    standsStill(2 * EXPIRY_MS);
    await passes(ISOLATION_MS);
    expect(reasons).toEqual([]);
  });
});
