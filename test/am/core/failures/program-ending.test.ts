import { describe, expect, test } from "@jest/globals";
import { startFailureOf } from "../../../../am/core/failures/endings.ts";
import type { ChildExit } from "../../../../am/core/state/events.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { childExit } from "../../../support/child-exit.ts";
import { Scenario } from "../scenario.ts";

/** Workers that run and of which none may fail. */
function running(workers: number): Scenario {
  const base = jobSpec([role("worker", workers)]);
  const scenario = new Scenario({ ...base, failure: { ...base.failure, budgets: { program: 0, infrastructure: 0 } } });
  scenario.toRunning();
  scenario.after(10_000);
  return scenario;
}

/** The cause of the job's failure when its only program ends so, and no more is heard of it. */
function causeOf(exit: Partial<ChildExit>) {
  const scenario = running(1);
  scenario.exits("worker:0", exit);
  scenario.after(scenario.core.spec.timeouts.verdictMs);
  return scenario.core.state.outcome?.cause;
}

describe("a program that ended badly", () => {
  const traceback = "Traceback …\nValueError: bad";

  test.each([
    ["its last lines where it printed no traceback", { lastLines: ["a", "b"] }, ["a", "b"]],
    [
      "its traceback, and at most three lines that followed it",
      { traceback, lastLines: ["a", "[rank0]: ValueError: bad", "1", "2", "3", "4"] },
      ["Traceback …", "ValueError: bad", "2", "3", "4"],
    ],
    [
      "nothing that came before the last of its tracebacks",
      { traceback, lastLines: ["ValueError: bad", "retry", "ValueError: bad", "1"] },
      ["Traceback …", "ValueError: bad", "1"],
    ],
    [
      "its traceback alone where that is not among them",
      { traceback, lastLines: ["a"] },
      ["Traceback …", "ValueError: bad"],
    ],
  ])("is shown with %s", (_what, exit, lines) => {
    expect(causeOf({ exitCode: 1, ...exit })?.lines).toEqual(lines);
  });

  const error = "OSError: gone";
  test.each([
    ["cause", "RuntimeError: no (it followed from OSError: gone)"],
    ["context", "RuntimeError: no (it came while handling OSError: gone)"],
    ["child", "RuntimeError: no (its child said OSError: gone)"],
  ] as const)("is told with what its exception came from: %s", (how, words) => {
    expect(causeOf({ exitCode: 1, errorSummary: "RuntimeError: no", errorOrigin: { how, error } })?.reason).toEqual({
      code: "program-exited",
      task: "worker:0",
      host: "n1",
      exitCode: 1,
      error: words,
    });
  });

  test("is told with an exception that it printed before", () => {
    expect(causeOf({ exitCode: 1, saidBefore: "KeyError: 'x'" })?.reason).toMatchObject({ before: "KeyError: 'x'" });
  });

  test.each([
    ["by a signal", { exitCode: 139, signal: "SIGSEGV" }, "SIGSEGV", { signal: "SIGSEGV" }],
    [
      "as a shell does after its child's signal",
      { exitCode: 139, signal: "SIGSEGV", signalOfChild: true },
      "139",
      { signal: "SIGSEGV", exitCode: 139 },
    ],
  ])("%s is shown by it", (_how, exit, shown, facts) => {
    const cause = causeOf(exit);
    expect(cause).toMatchObject({ class: "program", exit: shown });
    expect(cause?.reason).toEqual({ code: "program-signalled", task: "worker:0", host: "n1", ...facts });
  });

  test.each(["SIGBUS", "SIGILL"])("by %s shows that its machine may be faulty", (signal) => {
    const scenario = running(1);
    scenario.exits("worker:0", { signal });
    expect(scenario.core.state.blame).toMatchObject({ n1: { failures: 1 } });
    expect(scenario.core.state.outcome?.cause?.class).toBe("infrastructure");
  });

  test("for want of memory is told with what it used and what it had", () => {
    expect(
      causeOf({ exitCode: 137, signal: "SIGKILL", outOfMemory: true, peakMemoryBytes: 1_500 * 2 ** 20 }),
    ).toMatchObject({
      class: "program",
      reason: { code: "ran-out-of-memory", usedMiB: 1_500, used: expect.any(String), limit: "1 GiB" },
      fix: { code: "raise-memory", toMiB: 2_048, virtual: false },
    });
  });

  test("because a port kept for it was taken is the infrastructure's failure, and blames no machine", () => {
    const scenario = running(1);
    scenario.exits("worker:0", { exitCode: 1, portTaken: true, errorSummary: error });
    expect(scenario.core.state.outcome?.cause).toMatchObject({
      class: "infrastructure",
      reason: { code: "port-taken", error },
      fix: { code: "open-port-once", role: "worker" },
    });
    expect(scenario.core.state.blame).toEqual({});
  });

  test("before it began is told by its executor's own words, which need no further advice", () => {
    const cause = causeOf({ exitCode: 1, failedToStart: true, errorSummary: "spawn ENOMEM" });
    expect(cause?.reason).toEqual({ code: "program-not-started", task: "worker:0", host: "n1", error: "spawn ENOMEM" });
    expect(cause?.fix).toBeUndefined();
  });
});

describe("which of two programs failed first", () => {
  const bad = (atMs: number): Partial<ChildExit> => ({ exitCode: 1, atMs });
  const first = (scenario: Scenario) => scenario.core.state.outcome?.cause?.task;

  test("is not decided by a clock that is ahead", () => {
    const scenario = running(2);
    scenario.exits("worker:1", bad(scenario.nowMs + 60_000));
    scenario.exits("worker:0", bad(scenario.nowMs));
    expect(first(scenario)).toBe("worker:1");
  });

  test("is not decided by a clock that is further behind than a report can be late", () => {
    const scenario = running(2);
    scenario.exits("worker:0", bad(scenario.nowMs));
    scenario.after(2_500);
    scenario.exits("worker:1", bad(scenario.nowMs - 60_000));
    expect(first(scenario)).toBe("worker:0");
  });

  test("is decided by the clocks within the time that a report may be late", () => {
    const scenario = running(2);
    scenario.exits("worker:0", bad(scenario.nowMs));
    scenario.after(1_500);
    scenario.exits("worker:1", bad(scenario.nowMs - 1_900));
    expect(first(scenario)).toBe("worker:1");
  });

  test("is not decided by an exception that is said to have come after its program's end", () => {
    const scenario = running(2);
    scenario.exits("worker:1", { ...bad(scenario.nowMs), failedAtMs: scenario.nowMs + 5_000 });
    scenario.after(1_000);
    scenario.exits("worker:0", bad(scenario.nowMs));
    expect(first(scenario)).toBe("worker:1");
    expect(scenario.core.state.outcome?.cause?.followed).toMatchObject([{ laterMs: 1_000 }]);
  });
});

describe("a failure that the next start will meet again", () => {
  /** Ten seconds have passed since the program's start. */
  function lasting(exit: Partial<ChildExit>, ranForMs = 10_000, step = 0): string | undefined {
    const task = { ...running(1).task("worker:0"), step };
    return startFailureOf(task, childExit(task.startedAtMs + ranForMs, { exitCode: 1, ...exit }));
  }
  const module = { errorSummary: "ModuleNotFoundError: No module named 'torch'" };

  test.each(["ModuleNotFoundError: x", "ImportError: x", "SyntaxError: x", "IndentationError: x", "TabError: x"])(
    "is %s",
    (errorSummary) => {
      expect(lasting({ errorSummary })).toBe(errorSummary);
    },
  );

  test("comes within a minute of the start and before the first step", () => {
    expect(lasting(module, 60_000)).toBe(module.errorSummary);
    expect(lasting(module, 60_001)).toBeUndefined();
    expect(lasting(module, 10_000, 1)).toBeUndefined();
  });

  test("is not one that the program had caught", () => {
    expect(lasting({ ...module, lastLines: [module.errorSummary, "going on without it"] })).toBeUndefined();
  });

  test("is a command that cannot be run, by what the executor or else the shell says, unless the system refused it", () => {
    const lastLines = ["first", "x: command not found"];
    expect(lasting({ failedToStart: true, errorSummary: "no x", lastLines }, 90_000)).toBe("no x");
    expect(lasting({ failedToStart: true, lastLines })).toBe("x: command not found");
    expect(lasting({ failedToStart: true, refusedBySystem: true, lastLines })).toBeUndefined();
  });

  test("is a script that Python does not find", () => {
    expect(lasting({ lastLines: ["python3: can't open file '/x/container_1/sub/a.py': [Errno 2] No such"] })).toBe(
      "no sub/a.py",
    );
    expect(lasting({ lastLines: ["ValueError: bad"] })).toBeUndefined();
  });
});
