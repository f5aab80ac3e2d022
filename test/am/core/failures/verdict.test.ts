import { describe, expect, test } from "@jest/globals";
import type { ChildExit } from "../../../../am/core/state/events.ts";
import { stopWithinMs } from "../../../../src/job/silence.ts";
import type { FailureSpec, JobSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const base = jobSpec([role("worker", 3)]);

function running(change: Partial<JobSpec> = {}, failure: Partial<FailureSpec> = {}): Scenario {
  const scenario = new Scenario({ ...base, ...change, failure: { ...base.failure, ...failure } });
  scenario.toRunning();
  return scenario;
}

describe("the root of a failure", () => {
  test("is the earlier of two equal causes, whichever is heard first", () => {
    const scenario = running();
    scenario.after(5_000);
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.exits("worker:1", { exitCode: 1, atMs: scenario.nowMs - 500 });
    scenario.stops("worker:2");
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1" });
  });

  test("is not waited for from tasks that restart alone, and are not stopped with the others", () => {
    const roles = [role("worker", 2), role("ps", 1, { restartPolicy: "task" })];
    const scenario = running({ roles }, { budgets: { program: 0, infrastructure: 2 } });
    scenario.exits("worker:0", { exitCode: 5 });
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.stops("worker:1");
    expect(scenario.core.state.outcome?.cause).toMatchObject({ task: "worker:0", exit: "5" });
  });

  test("may have ended before the task that lost its connection by it", () => {
    const scenario = running({}, { budgets: { program: 0, infrastructure: 2 } });
    scenario.after(5_000);
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true, atMs: scenario.nowMs - 100 });
    scenario.exits("worker:1", { exitCode: 5 });
    scenario.exits("worker:2", { exitCode: 1, peerConnectionLost: true });
    expect(scenario.core.state.outcome?.cause?.consequences).toEqual([
      "worker:0 exited 1 on n1, 0.1 s earlier (may be a consequence, not counted)",
      "worker:2 exited 1 on n3, 0.0 s later (a consequence, not counted)",
    ]);
  });

  test("is a task whose exception came first, though its process had not ended when another's lost connection stopped it", () => {
    const scenario = running({}, { budgets: { program: 0, infrastructure: 2 } });
    scenario.after(5_000);
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true, errorSummary: "ConnectionResetError" });
    scenario.stops("worker:2");
    const stopReason = { code: "generation-ended", why: "worker:0 failed" } as const;
    const error = "ValueError: label 17 is out of range";
    const failed = { errorSummary: error, traceback: `Traceback …\n${error}`, failedAtMs: scenario.nowMs - 1_000 };
    scenario.after(500);
    scenario.exits("worker:1", { signal: "SIGTERM", stopReason, ...failed });
    expect(scenario.core.state.outcome?.cause).toMatchObject({
      task: "worker:1",
      summary: `worker:1 failed on n2, and had not ended when it was stopped: ${error}`,
      lines: ["Traceback …", error],
      consequences: ["worker:0 exited 1 on n1: ConnectionResetError, 1.0 s later (a consequence, not counted)"],
    });
  });

  test("has the lines that YARN reports, where its program had written none", () => {
    const scenario = running({}, { budgets: { program: 0, infrastructure: 0 } });
    const { containerId } = scenario.task("worker:1");
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.completes(containerId, -101, "1/1 local-dirs have errors: /data/1");
    for (const task of ["worker:0", "worker:2"]) scenario.stops(task);
    expect(scenario.core.state.outcome?.cause).toMatchObject({
      task: "worker:1",
      lines: ["1/1 local-dirs have errors: /data/1"],
    });
  });

  test("is no task that had itself lost a connection when it was stopped", () => {
    const scenario = running({}, { budgets: { program: 0, infrastructure: 2 } });
    const lost = { peerConnectionLost: true, errorSummary: "ConnectionResetError", failedAtMs: scenario.nowMs - 1_000 };
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    scenario.exits("worker:1", { signal: "SIGTERM", stopReason: { code: "generation-ended", why: "x" }, ...lost });
    scenario.stops("worker:2");
    expect(scenario.core.state.outcome?.cause).toMatchObject({ task: "worker:0" });
  });

  test("is the earlier exception, whichever process ended first", () => {
    const scenario = running({}, { budgets: { program: 0, infrastructure: 2 } });
    scenario.after(5_000);
    scenario.exits("worker:0", { exitCode: 1, errorSummary: "AssertionError", failedAtMs: scenario.nowMs - 10 });
    scenario.after(500);
    scenario.exits("worker:1", { exitCode: 1, errorSummary: "ValueError: bad", failedAtMs: scenario.nowMs - 4_000 });
    scenario.stops("worker:2");
    expect(scenario.core.state.outcome?.cause).toMatchObject({ task: "worker:1" });
  });

  test("stays the earlier one when the later one is heard second", () => {
    const scenario = running();
    scenario.after(5_000);
    scenario.exits("worker:0", { exitCode: 1, atMs: scenario.nowMs - 500 });
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:2");
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:0" });
  });

  test("is no container that ends after its program was stopped by our order", () => {
    const scenario = running();
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    scenario.completes("c1", 137);
    scenario.stops("worker:2");
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1" });
  });
});

describe("a task that lost its peer, whose executor has stood still since,", () => {
  test.each([1_000, 10_000])("is not the root where executors send a heartbeat every %i ms", (heartbeatIntervalMs) => {
    const beats = { ...base.timeouts, heartbeatIntervalMs, heartbeatExpiryMs: 10 * heartbeatIntervalMs };
    const timeouts = { ...beats, verdictMs: stopWithinMs(beats) };
    const scenario = running({ timeouts });
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    scenario.stops("worker:2");
    scenario.after(3 * heartbeatIntervalMs);
    scenario.silent("worker:1", 3 * heartbeatIntervalMs);
    scenario.after(timeouts.heartbeatExpiryMs);
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1" });
  });
});

describe("a container that exceeds its memory after its program had ended", () => {
  function exceedsAfter(exit: Partial<ChildExit>): Scenario {
    const scenario = running();
    scenario.exits("worker:0", exit);
    scenario.stops("worker:2");
    scenario.completes("c1", -104);
    scenario.vanishes("worker:1");
    return scenario;
  }

  test("did not end a program that had lost its peer: whatever cost that program its peer is the root", () => {
    const scenario = exceedsAfter({ exitCode: 1, peerConnectionLost: true });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({
      task: "worker:1",
      reason: { code: "executor-silent" },
    });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
  });

  test("did not end a program that had ended with 0 before the others", () => {
    const scenario = running();
    scenario.exits("worker:0");
    scenario.exits("worker:1", { exitCode: 1, peerConnectionLost: true });
    scenario.completes("c1", -104);
    expect(scenario.gang.generations[0]?.endedBy?.reason).toMatchObject({ code: "program-ended-early" });
  });

  test.each([{ signal: "SIGTERM" }, { exitCode: 143, peerConnectionLost: true }])(
    "is the root where the program had ended as a killed one does: %j",
    (exit) => {
      const scenario = exceedsAfter(exit);
      expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:0", exit: "-104" });
      expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    },
  );
});

describe("the endings beside the root", () => {
  const told = (scenario: Scenario) => scenario.core.state.outcome?.cause?.consequences;
  const noRestart = { budgets: { program: 0, infrastructure: 0 } };

  test("are failures of their own where nothing says that they followed", () => {
    const scenario = running({}, noRestart);
    scenario.exits("worker:0", { exitCode: 3 });
    scenario.exits("worker:1", { exitCode: 4 });
    scenario.exits("worker:2", { exitCode: 5 });
    expect(told(scenario)).toEqual([
      "worker:1 exited 4 on n2, 0.0 s later (also failed)",
      "worker:2 exited 5 on n3, 0.0 s later (also failed)",
    ]);
  });

  test("are failures of their own where YARN reports one for each", () => {
    const scenario = running({}, noRestart);
    scenario.completes("c1", -104);
    scenario.completes("c2", -104);
    scenario.stops("worker:2");
    expect(told(scenario)).toEqual(["worker:1 ran out of memory on n2, 0.0 s later (also failed)"]);
  });

  test("are consequences where the connection to a peer was lost", () => {
    const scenario = running({}, noRestart);
    scenario.exits("worker:0", { exitCode: 3 });
    scenario.exits("worker:1", { exitCode: 1, peerConnectionLost: true });
    scenario.stops("worker:2");
    expect(told(scenario)).toEqual(["worker:1 exited 1 on n2, 0.0 s later (a consequence, not counted)"]);
  });

  test("are no failure where a program ended with 0", () => {
    const scenario = running({}, noRestart);
    scenario.exits("worker:1");
    scenario.exits("worker:0", { exitCode: 1, peerConnectionLost: true });
    scenario.exits("worker:2", { exitCode: 3 });
    expect(told(scenario)).toEqual([
      "worker:1 exited 0 after 0 s on n2, before the others, 0.0 s later (not counted)",
      "worker:0 exited 1 on n1, 0.0 s later (a consequence, not counted)",
    ]);
  });
});

describe("a failure that is not the machine's fault", () => {
  test("is no longer blamed on it once YARN has reported that", () => {
    const scenario = running();
    scenario.breaks("worker:1");
    scenario.after(2_000);
    expect(scenario.core.state.blame).toMatchObject({ n2: { failures: 1 } });
    scenario.completes("c2", -104);
    expect(scenario.core.state.blame).toMatchObject({ n2: { failures: 0 } });
    expect(scenario.task("worker:1").machineFailures).toBe(0);
  });
});

describe("a verdict", () => {
  test("on a program that was killed waits for YARN's report, although its executor is well", () => {
    const scenario = running({}, { budgets: { program: 0, infrastructure: 5 } });
    scenario.exits("worker:1", { signal: "SIGKILL" });
    scenario.stops("worker:0");
    scenario.stops("worker:2");
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.completes("c2", -102);
    expect(scenario.job).toMatchObject({ outcome: undefined, generation: 2 });
    expect(scenario.used).toEqual({ program: 0, infrastructure: 0 });
  });

  test("on a program that was killed waits for two heartbeats of its node and two seconds, and no longer", () => {
    const scenario = running({}, { budgets: { program: 0, infrastructure: 5 } });
    scenario.exits("worker:1", { signal: "SIGKILL" });
    scenario.stops("worker:0");
    scenario.stops("worker:2");
    scenario.after(3_999);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.after(1);
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { exit: "SIGKILL" } });
  });

  test("keeps what the program had said last, and when it ended, when YARN says more of it", () => {
    const scenario = running({}, { budgets: { program: 0, infrastructure: 5 } });
    scenario.after(5_000);
    const endedAtMs = scenario.nowMs;
    scenario.exits("worker:1", { signal: "SIGKILL", lastLines: ["step 7"] });
    scenario.stops("worker:0");
    scenario.stops("worker:2");
    scenario.after(1_000);
    scenario.completes("c2", -104, "beyond physical memory limits");
    expect(scenario.core.state.outcome?.cause).toMatchObject({ exit: "-104", lines: ["step 7"], atMs: endedAtMs });
  });

  test("is told in the log, with the budget that pays", () => {
    const scenario = running();
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    scenario.stops("worker:2");
    expect(scenario.effects).toContainEqual({
      type: "log",
      level: "info",
      event: "verdict",
      message: "Root cause of generation 1's end: worker:1 exited 1 on n2 (counted as program).",
      fields: { task: "worker:1", generation: 1, class: "program" },
    });
  });

  test("is the only one of its generation: a loss after it has closed, while the gang is still stopping, costs nothing more", () => {
    const scenario = running({ timeouts: { ...base.timeouts, verdictMs: 2_000, stopGraceMs: 30_000 } });
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.after(3_000);
    expect(scenario.gang.verdicts).toEqual([]);
    scenario.completes("c1", 137);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    expect(scenario.gang.generation).toBe(2);
  });

  test("that is still open keeps the job from ending as if nothing had failed", () => {
    const scenario = new Scenario(
      jobSpec([role("worker", 1), role("ps", 1, { restartPolicy: "task" })], {
        failure: { ...base.failure, budgets: { program: 0, infrastructure: 0 } },
      }),
    );
    scenario.toRunning();
    scenario.exits("ps:0", { signal: "SIGKILL" });
    scenario.exits("worker:0");
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.after(base.timeouts.verdictMs);
    expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { task: "ps:0" } });
  });
});

describe("a task that is never restarted", () => {
  test.each(["scorer", "evaluator"])("ends the job when it fails while the gang is being stopped: %s", (name) => {
    const scenario = new Scenario(jobSpec([role("worker", 2), role(name, 1, { restartPolicy: "none" })]));
    scenario.toRunning();
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.exits(`${name}:0`, { exitCode: 1, peerConnectionLost: true });
    scenario.stops("worker:0");
    expect(scenario.core.state.outcome).toMatchObject({
      result: "failed",
      cause: { task: "worker:1" },
      rule: `${name} is not restarted: tony.${name}.restart-policy`,
    });
  });

  test("is not started again with the gang", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2), role("scorer", 1, { restartPolicy: "none" })]));
    scenario.toRunning();
    scenario.exits("scorer:0");
    scenario.exits("worker:1", { exitCode: 1 });
    scenario.stops("worker:0");
    scenario.readyAll();
    expect(scenario.phases()).toBe("worker:0 starting, worker:1 starting, scorer:0 succeeded");
  });

  test("is started again alone where an earlier attempt had stopped it: the generation that has begun since goes on", () => {
    const scenario = new Scenario(jobSpec([role("worker", 1), role("scorer", 1, { restartPolicy: "none" })]));
    scenario.toRunning();
    scenario.exits("worker:0", { exitCode: 1 });
    scenario.ready("worker:0");
    scenario.startedAll();
    scenario.exits("worker:0", { exitCode: 1 });
    const worker = scenario.task("worker:0").containerId;
    const scorer = scenario.task("scorer:0").containerId;
    scenario.breaks("scorer:0");
    scenario.after(3_000);
    scenario.crash([scenario.container(1, { containerId: worker }), scenario.container(2, { containerId: scorer })]);
    scenario.ready("worker:0");
    scenario.startedAll();
    expect(scenario.phases()).toBe("worker:0 running, scorer:0 lost");
    scenario.completes(scorer, 0);
    expect(scenario.phases()).toBe("worker:0 running, scorer:0 waiting");
    expect(scenario.gang.phase).toBe("running");
  });
});

describe("a sidecar's failure is ignored", () => {
  const noBudget = { ...base.failure, budgets: { program: 0, infrastructure: 5 } };

  test("when no budget is left to start it again", () => {
    const roles = [role("worker", 1), role("tensorboard", 1, { restartPolicy: "task" })];
    const scenario = new Scenario(jobSpec(roles, { failure: noBudget }));
    scenario.toRunning();
    const { containerId } = scenario.task("tensorboard:0");
    scenario.completes(containerId, -104);
    expect(scenario.job).toMatchObject({ phase: "running", outcome: undefined });
    scenario.exits("worker:0");
    expect(scenario.core.state.outcome?.result).toBe("succeeded");
  });

  test("when YARN's report turns an infrastructure failure into its program's, for which no budget is left", () => {
    const roles = [role("worker", 1), role("tensorboard", 1, { restartPolicy: "task" })];
    const scenario = new Scenario(jobSpec(roles, { failure: noBudget }));
    scenario.toRunning();
    const { containerId } = scenario.task("tensorboard:0");
    scenario.breaks("tensorboard:0");
    scenario.after(2_000);
    scenario.completes(containerId, -104);
    expect(scenario.job).toMatchObject({ phase: "running", outcome: undefined });
  });

  test("when the gang fails at the same time: it is not the root", () => {
    const roles = [role("worker", 2), role("tensorboard", 1, { restartPolicy: "none" })];
    const scenario = new Scenario(jobSpec(roles));
    scenario.toRunning();
    scenario.exits("worker:1", { exitCode: 1, peerConnectionLost: true });
    scenario.completes(scenario.task("tensorboard:0").containerId, -104);
    scenario.stops("worker:0");
    scenario.readyAll();
    expect(scenario.job).toMatchObject({ outcome: undefined, generation: 2, phase: "running" });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:1" });
  });

  test("even when YARN reports it while the gang's failure is judged: it is not the root", () => {
    const roles = [role("worker", 1), role("tensorboard", 1, { tracking: "sidecar" })];
    const scenario = new Scenario(jobSpec(roles));
    scenario.toRunning();
    const { containerId } = scenario.task("tensorboard:0");
    scenario.exits("worker:0", { signal: "SIGTERM" });
    scenario.breaks("tensorboard:0");
    scenario.after(2_000);
    scenario.completes(containerId, -102);
    scenario.readyAll();
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:0" });
  });

  test.each([-104, -101])(
    "when its container ends by %i before the start, again and again: the job does without it",
    (status) => {
      const roles = [role("worker", 1), role("tensorboard", 1, { restartPolicy: "none" })];
      const scenario = new Scenario(jobSpec(roles, { failure: noBudget }));
      scenario.register();
      for (let failure = 0; failure < 4 && scenario.task("tensorboard:0").phase !== "failed"; failure++) {
        scenario.allocateAll();
        scenario.completes(scenario.task("tensorboard:0").containerId, status);
      }
      expect(scenario.core.state.outcome).toBeUndefined();
      scenario.readyAll();
      scenario.startedAll();
      expect(scenario.phases()).toBe("worker:0 running, tensorboard:0 failed");
    },
  );
});
