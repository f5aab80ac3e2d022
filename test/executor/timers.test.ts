import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { Ticker, Timer } from "../../executor/timers.ts";

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("a timer calls once, and not for what was set before or cleared", () => {
  const timer = new Timer();
  const calls: string[] = [];
  timer.set(10, () => calls.push("replaced"));
  timer.set(20, () => calls.push("last"));
  jest.advanceTimersByTime(19);
  expect(calls).toEqual([]);
  jest.advanceTimersByTime(100);
  expect(calls).toEqual(["last"]);
  timer.set(-5, () => calls.push("overdue"));
  jest.advanceTimersByTime(1);
  timer.set(1, () => calls.push("cleared"));
  timer.clear();
  jest.advanceTimersByTime(1_000);
  expect(calls).toEqual(["last", "overdue"]);
});

test("a timer for longer than Node can wait is early, but not at once", () => {
  const call = jest.fn();
  new Timer().set(60 * 86_400_000, call);
  jest.advanceTimersByTime(24 * 86_400_000);
  expect(call).not.toHaveBeenCalled();
  jest.advanceTimersByTime(86_400_000);
  expect(call).toHaveBeenCalledTimes(1);
});

test("a ticker calls again and again, at the last pace that was set, until it is cleared", () => {
  const ticker = new Ticker();
  const calls: string[] = [];
  ticker.set(10, () => calls.push("fast"));
  ticker.set(100, () => calls.push("slow"));
  jest.advanceTimersByTime(250);
  ticker.clear();
  jest.advanceTimersByTime(1_000);
  expect(calls).toEqual(["slow", "slow"]);
});
