import { describe, expect, test } from "@jest/globals";
import { Bounds } from "../../../../am/core/state/bounds.ts";
import { statusOf } from "../../../../am/core/status/status.ts";
import type { Transfer } from "../../../../src/job/status.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { childExit } from "../../../support/child-exit.ts";
import { Scenario, sentOf, typesOf } from "../scenario.ts";

const carrier = { output: { localDir: "results", dir: "hdfs:///out" }, outputRequired: true, timeoutMs: 60_000 };
const base = jobSpec([role("worker", 1)], { carrier });
const spec = { ...base, failure: { ...base.failure, budgets: { program: 1, infrastructure: 1 } } };
const done: Transfer = {
  what: "output",
  state: "done",
  url: "hdfs:///out/worker-0",
  files: 1,
  bytes: 8,
  step: 0,
  atMs: 1,
  reason: "",
};

function running(): Scenario {
  const scenario = new Scenario(spec);
  scenario.toRunning();
  return scenario;
}

function says(scenario: Scenario, transfer: Transfer): void {
  const { id, containerId } = scenario.task("worker:0");
  scenario.on({ type: "transfer", task: id, containerId, transfer });
}

function saysGoodbye(scenario: Scenario): void {
  const { id, containerId } = scenario.task("worker:0");
  scenario.on({ type: "executor-lost", task: id, containerId, cause: "goodbye" });
}

function streamBreaks(scenario: Scenario, of = "worker:0"): void {
  const { id, containerId } = scenario.task(of);
  scenario.on({ type: "executor-lost", task: id, containerId, cause: "stream-broken" });
}

describe("what executors upload or restore", () => {
  test("counts, and is kept, where it is an earlier checkpoint than the one that the program was to begin with; the job may succeed", () => {
    const scenario = running();
    const reason = "began with the checkpoint of step 10, as a later one cannot be used: a is not there";
    const restored: Transfer = { ...done, what: "restored", url: "hdfs:///ckpt/step-10-at-1", step: 10, reason };
    says(scenario, restored);
    expect(statusOf(scenario.core, scenario.nowMs).tasks[0]?.transfers).toEqual([restored]);
    const logged = scenario.effects.flatMap((effect) =>
      effect.type === "log" && effect.event === "checkpoint-passed" ? [`${effect.level} ${effect.message}`] : [],
    );
    expect(logged).toEqual([`warn worker:0 ${reason}.`]);
    const recorded = scenario.effects.flatMap((effect) => (effect.type === "record" ? [effect.event] : []));
    expect(recorded).toContainEqual(
      expect.objectContaining({ type: "transfer", what: "restored", url: restored.url, why: reason }),
    );
  });

  test("is in the status, the last transfer of each kind; failures are in the log with their reason", () => {
    const scenario = running();
    const checkpoint: Transfer = { ...done, what: "checkpoint", state: "failed", step: 45, reason: "no space" };
    for (const transfer of [{ ...done, state: "under-way" } as const, checkpoint, done]) {
      says(scenario, transfer);
    }
    expect(statusOf(scenario.core, scenario.nowMs).tasks[0]?.transfers).toEqual([checkpoint, done]);
    const words = scenario.effects.flatMap((effect) =>
      effect.type === "log" && effect.event.startsWith("transfer-") ? [`${effect.level} ${effect.message}`] : [],
    );
    expect(words).toEqual([
      "warn worker:0's checkpoint of step 45 was not stored in hdfs:///out/worker-0: no space",
      "info worker:0's output is in hdfs:///out/worker-0.",
    ]);
  });

  test("is reported again when it was uploaded again, but not when a new stream repeats it", () => {
    const scenario = running();
    says(scenario, done);
    says(scenario, done);
    says(scenario, { ...done, atMs: 2, bytes: 16 });
    const told = scenario.effects.flatMap((effect) =>
      effect.type === "record" && effect.event.type === "transfer" ? [effect.event.bytes] : [],
    );
    expect(told).toEqual([8, 16]);
    expect(statusOf(scenario.core, scenario.nowMs).tasks[0]?.transfers).toMatchObject([{ bytes: 16 }]);
  });

  test("is believed only from the container that the task holds", () => {
    const scenario = running();
    for (const containerId of ["container_of_the_past", ""]) {
      scenario.on({ type: "transfer", task: "worker:0", containerId, transfer: { ...done, state: "failed" } });
    }
    const { containerId } = scenario.task("worker:0");
    scenario.on({ type: "transfer", task: "worker:1", containerId, transfer: { ...done, state: "failed" } });
    expect(statusOf(scenario.core, scenario.nowMs).tasks[0]?.transfers).toBeUndefined();
  });

  test("is waited for at the job's end, until its executor says goodbye", () => {
    const scenario = running();
    scenario.exits("worker:0");
    expect(sentOf(scenario.effects, "exit")).toEqual(["worker:0"]);
    scenario.after(spec.timeouts.stopGraceMs + 20_000);
    expect(typesOf(scenario.effects)).not.toContain("unregister");
    says(scenario, done);
    saysGoodbye(scenario);
    expect(typesOf(scenario.effects)).toContain("unregister");
    expect(statusOf(scenario.core, scenario.nowMs).tasks[0]?.transfers).toEqual([done]);
  });

  test("is reported once, however often its executor repeats it on a new stream", () => {
    const scenario = running();
    for (const transfer of [done, { ...done }]) says(scenario, transfer);
    const told = scenario.effects.filter((effect) => effect.type === "log" && effect.event === "transfer-done");
    const recorded = scenario.effects.filter((effect) => effect.type === "record" && effect.event.type === "transfer");
    expect([told.length, recorded.length]).toEqual([1, 1]);
  });

  test("stays as it was where a later run of its task left no file", () => {
    const scenario = running();
    for (const transfer of [done, { ...done, state: "empty", atMs: done.atMs + 1 } as const]) says(scenario, transfer);
    expect(statusOf(scenario.core, scenario.nowMs).tasks[0]?.transfers).toEqual([done]);
  });

  describe("on a stream that breaks", () => {
    const brokenAtTheEnd = () => {
      const scenario = running();
      scenario.exits("worker:0");
      says(scenario, { ...done, state: "under-way" });
      streamBreaks(scenario);
      expect(typesOf(scenario.effects)).not.toContain("unregister");
      return scenario;
    };

    test("is heard on its next stream at the job's end", () => {
      const scenario = brokenAtTheEnd();
      scenario.reports("worker:0", { state: "exited", exit: childExit(scenario.nowMs, { exitCode: 0 }) });
      expect(sentOf(scenario.effects, "exit")).toEqual(["worker:0", "worker:0"]);
      says(scenario, done);
      saysGoodbye(scenario);
      expect(scenario.core.state.outcome?.result).toBe("succeeded");
      expect(typesOf(scenario.effects)).toContain("unregister");
    });

    test("is waited for no longer than its executor may need to come back", () => {
      const scenario = brokenAtTheEnd();
      scenario.after(Bounds.reconnectMs);
      expect(typesOf(scenario.effects)).toContain("unregister");
      expect(scenario.core.state.outcome?.summary).toContain("its upload did not end");
    });

    test("is heard by the next attempt when the ApplicationMaster dies at the job's end", () => {
      const scenario = running();
      scenario.exits("worker:0");
      says(scenario, { ...done, state: "under-way" });
      const { containerId } = scenario.task("worker:0");
      const effects = scenario.crash([]);
      expect(typesOf(effects)).not.toContain("unregister");
      expect(effects).not.toContainEqual(expect.objectContaining({ type: "stop-container", containerId }));
      scenario.reports("worker:0", { state: "exited", exit: childExit(scenario.nowMs, { exitCode: 0 }) });
      says(scenario, done);
      saysGoodbye(scenario);
      expect(typesOf(scenario.effects)).toContain("unregister");
      expect(scenario.core.state.outcome?.result).toBe("succeeded");
    });

    test("is not cut short by the end of another task, which ends the job", () => {
      const scenario = new Scenario({ ...jobSpec([role("worker", 2)], { carrier }), failure: spec.failure });
      scenario.toRunning();
      scenario.exits("worker:0");
      says(scenario, { ...done, state: "under-way" });
      streamBreaks(scenario);
      const { containerId } = scenario.task("worker:0");
      scenario.exits("worker:1");
      expect(scenario.effects).not.toContainEqual(expect.objectContaining({ type: "stop-container", containerId }));
    });
  });

  describe("that did not reach its place", () => {
    const ended = (transfer: Transfer, outputRequired = true) => {
      const scenario = new Scenario({ ...spec, carrier: { ...carrier, outputRequired } });
      scenario.toRunning();
      says(scenario, transfer);
      scenario.exits("worker:0");
      saysGoodbye(scenario);
      expect(typesOf(scenario.effects)).toContain("unregister");
      return scenario.core.state.outcome;
    };
    const lost: Transfer = { ...done, state: "incomplete", reason: "x is not stored: it cannot be read (EACCES)" };

    test("fails a job that would have succeeded, which names what is missing and the key", () => {
      expect(ended(lost)).toMatchObject({
        result: "failed",
        summary:
          "worker:0's output was not stored completely in hdfs:///out/worker-0: x is not stored: it cannot be read (EACCES). If the job may succeed without it, set tony.output.required = false",
      });
    });

    test("does not fail it where the program left no file, which is reported", () => {
      const empty: Transfer = { ...done, state: "empty", files: 0, bytes: 0, reason: "no file was left in results" };
      expect(ended(empty)?.result).toBe("succeeded");
    });

    test("also fails it for a last checkpoint, and for an upload that did not end", () => {
      expect(ended({ ...lost, what: "checkpoint", state: "failed" })?.result).toBe("failed");
      expect(ended({ ...lost, state: "under-way", reason: "" })?.summary).toContain("its upload did not end");
    });

    /** Both have succeeded, and worker:1 still brings up its own, when worker:0 says that and goes. */
    const oneHasGone = (transfer: Transfer) => {
      const scenario = new Scenario({ ...jobSpec([role("worker", 2)], { carrier }), failure: spec.failure });
      scenario.toRunning();
      scenario.exits("worker:0");
      says(scenario, { ...done, state: "under-way" });
      scenario.exits("worker:1");
      says(scenario, transfer);
      saysGoodbye(scenario);
      return scenario;
    };
    const otherIsDone = (scenario: Scenario) => {
      const { id, containerId } = scenario.task("worker:1");
      scenario.reports(id, { state: "exited", exit: childExit(scenario.nowMs, { exitCode: 0 }) });
      scenario.on({ type: "transfer", task: id, containerId, transfer: done });
      scenario.on({ type: "executor-lost", task: id, containerId, cause: "goodbye" });
    };

    test.each<[string, Transfer, string]>([
      ["fails a job", lost, "failed"],
      ["and what did is no failure", done, "succeeded"],
    ])(
      "%s also where the ApplicationMaster dies before its last word, and its executor has gone",
      (_, said, result) => {
        const scenario = oneHasGone(said);
        expect(scenario.core.state.outcome?.result).toBe("succeeded");
        scenario.crash([]);
        const { containerId } = scenario.task("worker:0");
        scenario.completes(containerId, 0);
        otherIsDone(scenario);
        scenario.after(Bounds.rejoinMs);
        expect(typesOf(scenario.effects)).toContain("unregister");
        expect(scenario.core.state.outcome?.result).toBe(result);
      },
    );

    test("what a later attempt finds of an end that is being carried out, it carries out from its beginning", () => {
      const roles = [role("worker", 1), role("ps", 1, { tracking: "untracked" })];
      const scenario = new Scenario({ ...jobSpec(roles, { carrier }), failure: spec.failure });
      scenario.toRunning();
      scenario.exits("worker:0");
      says(scenario, done);
      expect(scenario.journal).toMatchObject({ finish: "stopping" });
      const { containerId } = scenario.task("ps:0");
      const effects = scenario.crash([]);
      expect(effects).toContainEqual({ type: "stop-container", containerId, reason: "the job ends" });
      expect(scenario.task("ps:0").phase).toBe("lost");
    });

    test("is in the journal before the job is over", () => {
      const scenario = oneHasGone(done);
      scenario.journalAnswers = false;
      otherIsDone(scenario);
      expect(typesOf(scenario.effects)).not.toContain("unregister");
      scenario.on({ type: "journal-written", sequence: scenario.core.state.journal.inFlight });
      expect(typesOf(scenario.effects)).toContain("unregister");
    });

    test("does not fail it where its task was stopped because the job had ended without it", () => {
      const scenario = new Scenario({
        ...jobSpec([role("worker", 1), role("ps", 1, { tracking: "untracked" })], { carrier }),
        failure: spec.failure,
      });
      scenario.toRunning();
      scenario.exits("worker:0");
      const { id, containerId } = scenario.task("ps:0");
      scenario.on({ type: "transfer", task: id, containerId, transfer: { ...lost, state: "failed" } });
      for (const task of [scenario.task("worker:0"), scenario.task("ps:0")])
        scenario.on({ type: "executor-lost", task: task.id, containerId: task.containerId, cause: "goodbye" });
      expect(scenario.core.state.outcome?.result).toBe("succeeded");
    });

    test("does not fail it where tony.output.required is false, or where everything is stored under another name", () => {
      expect(ended(lost, false)?.result).toBe("succeeded");
      expect(ended({ ...done, reason: "a:b is stored as a%3Ab" })?.result).toBe("succeeded");
    });
  });

  test("is not waited for where the stream of a task that was stopped is broken", () => {
    const scenario = new Scenario({
      ...jobSpec([role("worker", 1), role("ps", 1, { tracking: "untracked" })], { carrier }),
      failure: spec.failure,
    });
    scenario.toRunning();
    streamBreaks(scenario, "ps:0");
    scenario.exits("worker:0");
    saysGoodbye(scenario);
    expect(typesOf(scenario.effects)).toContain("unregister");
  });

  test("that did not reach its place makes a job fail that is told as that", () => {
    const scenario = running();
    says(scenario, { ...done, state: "failed", reason: "no space" });
    scenario.exits("worker:0");
    saysGoodbye(scenario);
    const told = scenario.effects.flatMap((effect) =>
      effect.type === "log" && effect.event === "outcome-decided" ? [`${effect.level} ${effect.message}`] : [],
    );
    expect(told).toEqual([
      "info The job has succeeded: 1 of 1 task exited 0",
      expect.stringMatching(/^error The job has failed: worker:0's output was not stored/),
    ]);
  });

  test("is waited for no longer than tony.carrier.timeout beyond the grace", () => {
    const scenario = running();
    scenario.exits("worker:0");
    scenario.after(spec.timeouts.stopGraceMs + 5_000 + carrier.timeoutMs);
    expect(typesOf(scenario.effects)).toContain("unregister");
  });

  test("has its time before a restart, and so has a checkpoint before the start", () => {
    const scenario = running();
    scenario.exits("worker:0", { exitCode: 1 });
    const { containerId } = scenario.task("worker:0");
    scenario.after(spec.timeouts.stopGraceMs + 30_000 + carrier.timeoutMs - 1);
    scenario.ready("worker:0");
    scenario.after(60_000 + carrier.timeoutMs - 1);
    expect(scenario.task("worker:0")).toMatchObject({ phase: "starting", containerId });
  });
});
