import { describe, expect, test } from "@jest/globals";
import type { JobSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const error = "RuntimeError: Connection closed by peer";
const lost = { exitCode: 1, peerConnectionLost: true, errorSummary: error, lastLines: [error] };

/** A job of that spec that runs, without a restart to spend. */
function running(spec: JobSpec = jobSpec([role("worker", 3)])): Scenario {
  const scenario = new Scenario({ ...spec, failure: { ...spec.failure, budgets: { program: 0, infrastructure: 2 } } });
  scenario.toRunning();
  return scenario;
}

describe("a worker ends with 0 before the others", () => {
  test("and is named as the cause when they fail of the lost connection, with what it printed last", () => {
    const scenario = running();
    scenario.after(3_000);
    scenario.exits("worker:1", { lastLines: ["stopped early at step 3"] });
    scenario.after(400);
    scenario.exits("worker:0", lost);
    scenario.exits("worker:2", lost);
    expect(scenario.core.state.outcome?.cause).toMatchObject({
      class: "program",
      task: "worker:1",
      summary: "worker:1 exited 0 after 3 s on n2, before the others",
      lines: ["stopped early at step 3", "worker:0 then said:", "RuntimeError: Connection closed by peer"],
      remedy: expect.stringContaining("the same number of steps"),
      consequences: [
        "worker:0 exited 1 on n1: RuntimeError: Connection closed by peer, 0.4 s later (may be a consequence, not counted)",
        "worker:2 exited 1 on n3: RuntimeError: Connection closed by peer, 0.4 s later (may be a consequence, not counted)",
      ],
    });
  });

  test("and is the cause even when its exit is heard after theirs", () => {
    const scenario = running();
    scenario.after(3_000);
    scenario.exits("worker:0", { ...lost, atMs: scenario.nowMs });
    scenario.exits("worker:1", { atMs: scenario.nowMs - 20 });
    scenario.stops("worker:2");
    expect(scenario.core.state.outcome?.cause).toMatchObject({ task: "worker:1", exit: "0" });
  });

  test("and one restart of the program's budget pays for it, with which all start again", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.toRunning();
    scenario.exits("worker:1");
    scenario.exits("worker:0", lost);
    scenario.readyAll();
    expect(scenario.job).toMatchObject({ generation: 2 });
    expect(scenario.used).toMatchObject({ program: 1, infrastructure: 0 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1" });
  });

  test("and is the cause in each generation anew", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2)]));
    scenario.toRunning();
    scenario.exits("worker:1");
    scenario.exits("worker:0", lost);
    scenario.readyAll();
    scenario.startedAll();
    scenario.exits("worker:0");
    scenario.exits("worker:1", lost);
    expect(scenario.gang.generations.map(({ endedBy }) => endedBy?.task)).toEqual(["worker:1", "worker:0"]);
  });

  test.each([
    ["a failure of its own", { exitCode: 1, errorSummary: "ValueError: bad" }, { task: "worker:2" }],
    ["a machine's", { signal: "SIGBUS", exitCode: 135 }, { task: "worker:2", class: "infrastructure" }],
  ])("and %s that comes later is nearer to the root", (_what, exit, cause) => {
    const scenario = running();
    scenario.exits("worker:1");
    scenario.exits("worker:0", lost);
    scenario.exits("worker:2", exit);
    scenario.readyAll();
    expect(scenario.core.state.outcome?.cause ?? scenario.gang.generations[0]?.endedBy).toMatchObject(cause);
  });

  test("and a lost executor is nearer to the root, too", () => {
    const scenario = running();
    scenario.exits("worker:1");
    scenario.breaks("worker:2");
    scenario.exits("worker:0", lost);
    scenario.completes("c3", 137);
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:2", class: "infrastructure" });
  });
});

describe("an exit with 0 is not taken for the cause", () => {
  const blamed = (scenario: Scenario) => scenario.core.state.outcome?.cause?.task;

  test("where workers talk to parameter servers, because each ends when its share is done", () => {
    const scenario = running(jobSpec([role("worker", 3), role("ps", 1)]));
    scenario.exits("worker:1");
    scenario.exits("worker:0", lost);
    scenario.stops("worker:2");
    scenario.stops("ps:0");
    expect(blamed(scenario)).toBe("worker:0");
  });

  test("where an evaluator exits, because it works alone", () => {
    const scenario = running(jobSpec([role("worker", 2), role("evaluator", 1)]));
    scenario.exits("evaluator:0");
    scenario.exits("worker:0", lost);
    scenario.stops("worker:1");
    expect(blamed(scenario)).toBe("worker:0");
  });

  test("where the others end with 0 soon after, or fail by themselves", () => {
    const good = running();
    for (const task of ["worker:1", "worker:0", "worker:2"]) good.exits(task);
    expect(good.core.state.outcome?.result).toBe("succeeded");
    const bad = running();
    bad.exits("worker:1");
    bad.exits("worker:0", { exitCode: 1, errorSummary: "ValueError: bad" });
    bad.stops("worker:2");
    expect(blamed(bad)).toBe("worker:0");
  });

  test("where a worker ended with 0 after the connection was lost", () => {
    const scenario = running();
    scenario.exits("worker:0", lost);
    scenario.after(50);
    scenario.exits("worker:1");
    scenario.stops("worker:2");
    expect(blamed(scenario)).toBe("worker:0");
  });
});
