import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { callAfter, sleep, within } from "../../src/hadoop/clock.ts";

const aMinuteMs = 60_000;
const never = new Promise<void>(() => undefined);

test("sleep ends at once when its signal fires, or has fired before", async () => {
  const stop = new AbortController();
  const asleep = sleep(aMinuteMs, stop.signal);
  stop.abort();
  await expect(asleep).resolves.toBeUndefined();
  await expect(sleep(aMinuteMs, stop.signal)).resolves.toBeUndefined();
});

test("sleep leaves no listener at a signal that outlives it", async () => {
  const { signal } = new AbortController();
  await sleep(1, signal);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

describe("a bounded wait", () => {
  test("says that the work was done, and throws what it threw", async () => {
    expect(await within(aMinuteMs, Promise.resolve("done"))).toBe(true);
    await expect(within(aMinuteMs, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  });

  test("is over in its time, whatever becomes of the work", async () => {
    expect(await within(1, never)).toBe(false);
  });
});

describe("a call after a delay", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  test("of a month comes in a month: longer than Node's longest timer", () => {
    const monthMs = 30 * 86_400_000;
    const calls = { made: 0 };
    callAfter(monthMs, () => calls.made++);
    jest.advanceTimersByTime(monthMs - 1);
    expect(calls.made).toBe(0);
    jest.advanceTimersByTime(1);
    expect(calls.made).toBe(1);
  });

  test("does not come when it is cancelled, however far it is along", () => {
    const calls = { made: 0 };
    const cancel = callAfter(3 * 2 ** 31, () => calls.made++);
    jest.advanceTimersByTime(2 ** 31);
    cancel();
    jest.advanceTimersByTime(3 * 2 ** 31);
    expect(calls.made).toBe(0);
  });
});
