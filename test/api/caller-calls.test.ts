import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { CallerCalls, type CallLimits } from "../../src/api/caller-calls.ts";

const limits: CallLimits = { mostAsking: 2, mostWaiting: 2, mostCalls: 4, askingMs: 1_000 };

let calls: CallerCalls;
let begun: string[];
let late: string[];
beforeEach(() => {
  jest.useFakeTimers();
  calls = new CallerCalls(limits);
  begun = [];
  late = [];
});
afterEach(() => {
  jest.useRealTimers();
});

const enter = (name: string, caller = "alice") =>
  calls.enter(caller, { begin: () => begun.push(name), late: () => late.push(name) });

describe("the calls of one caller", () => {
  test("are read so many at a time, and the next when one is read or over", () => {
    const [first, second] = ["1", "2", "3", "4"].map((name) => enter(name));
    expect(begun).toEqual(["1", "2"]);
    first?.asked();
    expect(begun).toEqual(["1", "2", "3"]);
    second?.leave();
    expect(begun).toEqual(["1", "2", "3", "4"]);
  });

  test("are refused beyond those that wait, and beyond all; another caller's are not", () => {
    const entered = ["1", "2", "3", "4"].map((name) => enter(name));
    expect(enter("5")).toBeUndefined();
    expect(enter("1", "bob")).toBeDefined();
    for (const call of entered) call?.asked();
    expect(enter("6")).toBeUndefined();
    entered[0]?.leave();
    expect(enter("7")).toBeDefined();
  });

  test("are refused as soon as so many wait, though there may be more in all", () => {
    calls = new CallerCalls({ ...limits, mostCalls: 10 });
    const entered = ["1", "2", "3", "4"].map((name) => enter(name));
    expect(enter("5")).toBeUndefined();
    entered[0]?.asked();
    expect(enter("6")).toBeDefined();
    expect(enter("7")).toBeUndefined();
  });

  test("that leave twice, or say twice what they are for, count once", () => {
    const entered = ["1", "2", "3", "4"].map((name) => enter(name));
    const [first] = entered;
    first?.asked();
    first?.asked();
    expect(begun).toEqual(["1", "2", "3"]);
    for (const call of entered) call?.asked();
    first?.leave();
    first?.leave();
    expect(enter("5")).toBeDefined();
    expect(enter("6")).toBeUndefined();
  });

  test("that end before their turn keep no place", () => {
    const [first, , third] = ["1", "2", "3"].map((name) => enter(name));
    third?.leave();
    first?.asked();
    expect(begun).toEqual(["1", "2"]);
    enter("4");
    expect(begun).toEqual(["1", "2", "4"]);
  });

  test("are late when they do not say in time what they are for, and never afterwards", () => {
    const [asked, silent, waiting] = ["asked", "silent", "waiting"].map((name) => enter(name));
    jest.advanceTimersByTime(limits.askingMs - 1);
    asked?.asked();
    jest.advanceTimersByTime(1);
    expect(late).toEqual(["silent"]);
    silent?.leave();
    waiting?.leave();
    jest.advanceTimersByTime(10 * limits.askingMs);
    expect(late).toEqual(["silent"]);
  });
});
