import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { callAfter } from "../src/timer.ts";

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
