import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { watchSignals } from "../../../client/following/signals.ts";

function watched() {
  const source = new EventEmitter();
  const calls: string[] = [];
  const unwatch = watchSignals(
    {
      stop: (signal) => calls.push(`stop ${signal}`),
      leave: () => calls.push("leave"),
      detach: () => calls.push("detach"),
    },
    source,
  );
  return { source, calls, unwatch };
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe("signals", () => {
  test("the first Ctrl-C or TERM ends the job, any further one leaves at once", () => {
    const { source, calls } = watched();
    source.emit("SIGINT", "SIGINT");
    jest.advanceTimersByTime(500);
    source.emit("SIGTERM", "SIGTERM");
    expect(calls).toEqual(["stop Ctrl-C", "leave"]);
  });

  test("one that timeout(1) or npm sends twice counts once: the job would have been left running", () => {
    const { source, calls } = watched();
    source.emit("SIGTERM", "SIGTERM");
    jest.advanceTimersByTime(499);
    source.emit("SIGTERM", "SIGTERM");
    expect(calls).toEqual(["stop SIGTERM"]);
  });

  test("TERM is named as such", () => {
    const { source, calls } = watched();
    source.emit("SIGTERM", "SIGTERM");
    expect(calls).toEqual(["stop SIGTERM"]);
  });

  test("a closed terminal detaches", () => {
    const { source, calls } = watched();
    source.emit("SIGHUP", "SIGHUP");
    expect(calls).toEqual(["detach"]);
  });

  test("nothing is left installed", () => {
    const { source, unwatch } = watched();
    unwatch();
    expect(["SIGINT", "SIGTERM", "SIGHUP"].map((signal) => source.listenerCount(signal))).toEqual([0, 0, 0]);
  });
});
