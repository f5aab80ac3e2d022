import { describe, expect, test } from "@jest/globals";
import { statusOf } from "../../../../am/core/status/status.ts";
import type { GroupLimit } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

const limit: GroupLimit = {
  role: "evaluator",
  group: "training",
  roles: ["worker"],
  limitMs: 600_000,
  atLimit: "fail",
};

/** All run, and the workers are the group after which the evaluator may run on. */
function running(change: Partial<GroupLimit> = {}): Scenario {
  const roles = [role("worker", 2), role("evaluator", 1, { restartPolicy: "none" })];
  const scenario = new Scenario(jobSpec(roles, { groupLimits: [{ ...limit, ...change }] }));
  scenario.toRunning();
  return scenario;
}

function endTraining(scenario: Scenario): void {
  scenario.exits("worker:0");
  scenario.after(5_000);
  scenario.exits("worker:1");
}

describe("a role that may run on for a time after a group", () => {
  test("has all of it, beyond the grace that other roles have after the main tasks", () => {
    const scenario = running();
    endTraining(scenario);
    scenario.after(599_999);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.exits("evaluator:0");
    expect(scenario.core.state.outcome?.result).toBe("succeeded");
  });

  test("is told of it once, as its group ends", () => {
    const scenario = running();
    endTraining(scenario);
    scenario.after(60_000);
    const told = scenario.effects.flatMap((effect) =>
      effect.type === "log" && effect.event === "group-ended" ? [effect.message] : [],
    );
    expect(told).toEqual(["Group training has ended: evaluator may run on for 10 min."]);
  });

  test("has it from the end of the last of the group's roles", () => {
    const roles = [role("worker", 1), role("scorer", 1), role("evaluator", 1, { restartPolicy: "none" })];
    const groupLimits = [{ ...limit, roles: ["worker", "scorer"] }];
    const scenario = new Scenario(jobSpec(roles, { groupLimits }));
    scenario.toRunning();
    scenario.exits("worker:0");
    scenario.after(600_000);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.exits("scorer:0");
    scenario.after(600_000);
    expect(scenario.core.state.outcome?.result).toBe("failed");
  });

  test("has its own limit, whichever of two is over first", () => {
    const roles = [
      role("worker", 2),
      ...["scorer", "evaluator"].map((name) => role(name, 1, { restartPolicy: "none" })),
    ];
    const shorter = { ...limit, role: "scorer", limitMs: 300_000, atLimit: "untrack" as const };
    const scenario = new Scenario(jobSpec(roles, { groupLimits: [limit, shorter] }));
    scenario.toRunning();
    endTraining(scenario);
    scenario.after(299_999);
    expect(scenario.core.state.untracked).toEqual([]);
    scenario.after(1);
    expect(scenario.core.state).toMatchObject({ untracked: ["scorer"], outcome: undefined });
    scenario.after(300_000);
    expect(scenario.core.state.outcome?.summary).toContain("evaluator ran on for longer than 10 min");
  });

  test("has it again where a restart makes the group run again", () => {
    const scenario = new Scenario(jobSpec([role("worker", 2), role("evaluator", 1)], { groupLimits: [limit] }));
    scenario.toRunning();
    endTraining(scenario);
    scenario.after(300_000);
    scenario.vanishes("evaluator:0");
    scenario.allocateAll();
    scenario.readyAll();
    scenario.startedAll();
    expect(scenario.phases()).toBe("worker:0 running, worker:1 running, evaluator:0 running");
    scenario.after(600_000);
    expect(scenario.core.state.outcome).toBeUndefined();
  });

  test("fails the job when it takes longer, and the key is named", () => {
    const scenario = running();
    endTraining(scenario);
    scenario.after(600_000);
    expect(scenario.core.state.outcome).toMatchObject({
      result: "failed",
      summary:
        "evaluator ran on for longer than 10 min after group training had ended: tony.application.dependency.evaluator.timeout.after.training",
    });
  });

  test("is not waited for any more where its limit is ignored: the job succeeds without it", () => {
    const scenario = running({ atLimit: "untrack" });
    endTraining(scenario);
    scenario.after(600_000);
    expect(scenario.core.state.outcome).toMatchObject({
      result: "succeeded",
      summary: "2 of 2 tracked tasks exited 0",
    });
  });

  test("is not waited for any more, which is told", () => {
    const roles = [role("worker", 2), role("scorer", 1), role("evaluator", 1, { restartPolicy: "none" })];
    const scenario = new Scenario(jobSpec(roles, { groupLimits: [{ ...limit, atLimit: "untrack" }] }));
    scenario.toRunning();
    endTraining(scenario);
    expect(scenario.after(600_000)).toContainEqual(
      expect.objectContaining({
        event: "role-untracked",
        message: "evaluator still runs 10 min after group training has ended: the job does not wait for it any more.",
      }),
    );
    expect(scenario.core.state.outcome).toBeUndefined();
  });

  test("has its time counted from the end of the group's last task, by a later attempt as well", () => {
    const scenario = running();
    endTraining(scenario);
    scenario.after(60_000);
    const { containerId } = scenario.task("evaluator:0");
    scenario.crash([scenario.container(2, { containerId })]);
    scenario.reports("evaluator:0", { state: "running", pid: 7, startedAtMs: 0 });
    scenario.after(539_999);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.after(1);
    expect(scenario.core.state.outcome?.result).toBe("failed");
  });

  test("has it in the journal as it begins: a later attempt begins no other one", () => {
    const scenario = running();
    endTraining(scenario);
    scenario.after(2_000);
    expect(scenario.journal).toMatchObject({ groupDeadlines: { 0: { sinceMs: scenario.nowMs - 2_000 } } });
  });

  test("is a wait that people see, with the time at which it ends", () => {
    const scenario = running();
    endTraining(scenario);
    expect(statusOf(scenario.core, scenario.nowMs).waits).toContainEqual(
      expect.objectContaining({
        what: "the end of evaluator",
        endsAtMs: scenario.nowMs + 600_000,
        atEnd: "the job fails",
      }),
    );
  });

  describe("and must not fail (stop-on-failure-jobtypes)", () => {
    const untracked = (change: Partial<GroupLimit> = {}) => {
      const worker = role("worker", 2, { stopOnFailure: true });
      const roles = [role("chief", 1, { chief: "all" }), worker, role("evaluator", 1)];
      const groupLimits = [{ ...limit, role: "worker", roles: ["chief"], atLimit: "untrack" as const, ...change }];
      const scenario = new Scenario(jobSpec(roles, { groupLimits }));
      scenario.toRunning();
      scenario.exits("chief:0");
      return scenario;
    };

    test("fails the job even when it is no longer waited for and its chief is done", () => {
      const scenario = untracked({ limitMs: 5_000 });
      scenario.after(10_000);
      expect(scenario.core.state.untracked).toEqual(["worker"]);
      scenario.exits("worker:1", { exitCode: 1 });
      expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { task: "worker:1" } });
    });

    test("fails it within its time as well", () => {
      const scenario = untracked();
      scenario.exits("worker:1", { exitCode: 1 });
      expect(scenario.core.state.outcome).toMatchObject({ result: "failed", cause: { task: "worker:1" } });
    });

    test("but does not fail it when its machine was at fault", () => {
      const scenario = untracked();
      scenario.completes(scenario.task("worker:1").containerId, -102);
      expect(scenario.core.state.outcome).toBeUndefined();
    });
  });
});
