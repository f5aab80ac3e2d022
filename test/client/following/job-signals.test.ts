import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { JobSignals } from "../../../client/following/job-signals.ts";
import { SAME_SIGNAL_MS } from "../../../client/following/signals.ts";
import { ExitCode } from "../../../src/errors.ts";

const id = "application_1_0007";
const runsOn = `${id} still runs; see tony-ts status ${id}`;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

class Exited extends Error {}

let signals: JobSignals | undefined;
let left: string[];
beforeEach(() => {
  left = [];
  jest.useFakeTimers({ doNotFake: ["setImmediate"] });
  jest.spyOn(process, "exit").mockImplementation(() => {
    throw new Exited();
  });
});
afterEach(() => {
  signals?.unwatch();
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** Of a job that another command submitted, as it is followed: known, and submitted, from the beginning. */
function following(askToEnd?: () => Promise<boolean>): JobSignals {
  signals = new JobSignals((reason) => left.push(reason), { owns: false, ...(askToEnd && { askToEnd }) });
  signals.named(id);
  signals.submitted();
  return signals;
}

/** Of one that is submitted here. */
function submitting(): JobSignals {
  signals = new JobSignals((reason) => left.push(reason));
  return signals;
}

function gets(signal: (typeof SIGNALS)[number]): boolean {
  try {
    process.emit(signal, signal);
    return false;
  } catch (error) {
    if (!(error instanceof Exited)) throw error;
    return true;
  }
}

describe("a command that follows a job which it did not submit", () => {
  test.each(SIGNALS)("leaves it running at %s, where nobody can be asked", (signal) => {
    const { stop } = following();
    expect(gets(signal)).toBe(true);
    expect(left).toEqual([runsOn]);
    expect(stop.aborted).toBe(false);
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("asks nobody at %s: it comes from no person", (signal) => {
    const ask = jest.fn(async () => true);
    const { stop } = following(ask);
    expect(gets(signal)).toBe(true);
    expect(ask).not.toHaveBeenCalled();
    expect([left, stop.aborted]).toEqual([[runsOn], false]);
  });

  test.each(SIGNALS)("leaves it running at %s while it asks", (signal) => {
    const { stop } = following(() => new Promise(() => {}));
    expect(gets("SIGINT")).toBe(false);
    jest.advanceTimersByTime(SAME_SIGNAL_MS);
    expect(gets(signal)).toBe(true);
    expect(left).toEqual([signal === "SIGHUP" ? runsOn : `Left at once; ${id} still runs: tony-ts status ${id}`]);
    expect(stop.aborted).toBe(false);
  });

  test("ends it when the person who pressed Ctrl-C says so", async () => {
    const { stop } = following(async () => true);
    expect(gets("SIGINT")).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(stop.reason).toBe("Ctrl-C");
  });

  test("leaves it running when that person does not confirm", async () => {
    jest.mocked(process.exit).mockImplementation(jest.fn<typeof process.exit>());
    const { stop } = following(async () => false);
    gets("SIGINT");
    await new Promise((resolve) => setImmediate(resolve));
    expect([left, stop.aborted]).toEqual([[runsOn], false]);
    expect(process.exit).toHaveBeenCalledWith(5);
  });
});

describe("a command that submits a job", () => {
  test.each(["SIGINT", "SIGTERM"] as const)(
    "ends it at %s, before and after it was taken; a second one leaves",
    (signal) => {
      const { stop } = submitting();
      expect(gets(signal)).toBe(false);
      expect(stop.aborted).toBe(true);
      jest.advanceTimersByTime(SAME_SIGNAL_MS);
      expect(gets(signal)).toBe(true);
      expect(left).toEqual(["Left at once; nothing was submitted"]);
    },
  );

  test("that leaves at once says what becomes of the job: it may run on, or is being ended", () => {
    const leaving = (...before: readonly "ending"[]) => {
      left = [];
      const one = submitting();
      one.named(id);
      one.submitted();
      gets("SIGINT");
      for (const _ of before) one.ending();
      jest.advanceTimersByTime(SAME_SIGNAL_MS);
      gets("SIGINT");
      one.unwatch();
      return left;
    };
    expect(leaving()).toEqual([`Left at once; ${id} may still run: tony-ts kill ${id}`]);
    expect(leaving("ending")).toEqual([`Left at once; ${id} is being ended: tony-ts wait ${id} waits for that`]);
    expect(process.exit).toHaveBeenCalledWith(5);
  });

  test("at the end of its terminal leaves a job that was taken, and submits one first whose id was told", () => {
    const one = submitting();
    one.named(id);
    expect(gets("SIGHUP")).toBe(false);
    expect(one.stop.aborted).toBe(false);
    expect(() => one.submitted()).toThrow(Exited);
    expect(left).toEqual([runsOn]);
  });

  test("at the end of its terminal submits nothing whose id nobody knows", () => {
    const { stop } = submitting();
    expect(gets("SIGHUP")).toBe(false);
    expect(stop.reason).toBe("SIGHUP");
  });

  test("that has ended is not left any more: its exit code stays, whoever reads no further", () => {
    const before = process.exitCode;
    const one = submitting();
    one.named(id);
    one.submitted();
    one.ended(ExitCode.jobFailed);
    const { exitCode } = process;
    process.exitCode = before;
    expect([exitCode, process.listenerCount("SIGHUP"), left]).toEqual([1, 0, []]);
  });
});
