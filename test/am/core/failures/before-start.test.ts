import { describe, expect, test } from "@jest/globals";
import type { FailureSpec, RoleSpec } from "../../../../src/job/spec.ts";
import { jobSpec, role } from "../../../simulation/job.ts";
import { Scenario } from "../scenario.ts";

/** A job whose containers are there, and in none of which anything has started. */
function allocated(change: Partial<FailureSpec> = {}, roles: readonly RoleSpec[] = [role("worker", 2)]): Scenario {
  const base = jobSpec(roles);
  const scenario = new Scenario({ ...base, failure: { ...base.failure, ...change } });
  scenario.register();
  scenario.allocateAll();
  return scenario;
}

const told = (scenario: Scenario, event: string) =>
  scenario.effects.flatMap((effect) => (effect.type === "log" && effect.event === event ? [effect.message] : []));

describe("a container that ends before anything has started in it", () => {
  test("is replaced by another in the same generation, which nobody pays for where a machine failed", () => {
    const scenario = allocated();
    scenario.completes("c1", -101);
    expect(scenario.phases()).toBe("worker:0 waiting, worker:1 allocated");
    expect(scenario.gang).toMatchObject({ phase: "gathering", generation: 1, charges: [] });
    expect(scenario.core.state.blame).toMatchObject({ n1: { failures: 1 } });
    expect(told(scenario, "container-replaced")).toEqual([
      "Another container is asked for, nothing had started yet: worker:0 lost its container: the node's disks failed on n1.",
    ]);
  });

  test("costs a restart where the job itself is at fault, and ends the job when none is left", () => {
    const scenario = allocated({ budgets: { program: 1, infrastructure: 9 } });
    scenario.completes("c1", -104);
    expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.allocateAll();
    const { containerId, host } = scenario.task("worker:0");
    scenario.after(1_000);
    scenario.completes(containerId, -104);
    expect(scenario.core.state).toMatchObject({
      outcome: {
        result: "failed",
        cause: { task: "worker:0", exit: "-104" },
        reason: { code: "budget-spent", limit: 1 },
      },
      judgedLives: { "worker:0": { phase: "lost", containerId, host, exit: "-104", endedAtMs: 1_001_000 } },
    });
  });

  test("ends the job when machines have failed its task as often as they may", () => {
    const scenario = allocated({ blame: { container: 1, node: 9, job: 2 } });
    scenario.completes("c1", -101);
    expect(scenario.core.state.outcome).toBeUndefined();
    scenario.allocateAll();
    scenario.completes(scenario.task("worker:0").containerId, -101);
    expect(scenario.core.state.outcome).toMatchObject({
      result: "failed",
      reason: { code: "machines-failed", task: "worker:0", times: 2 },
    });
  });

  test("costs nothing where YARN took it back", () => {
    const scenario = allocated({ budgets: { program: 0, infrastructure: 0 } });
    scenario.completes("c1", -102);
    expect(scenario.core.state.outcome).toBeUndefined();
    expect(scenario.core.state.blame).toEqual({});
    expect(scenario.phases()).toBe("worker:0 waiting, worker:1 allocated");
  });

  test("lets a sidecar be given up, which is told, with its reason and the rule", () => {
    const roles = [role("worker", 1), role("tensorboard", 1)];
    const scenario = allocated({ budgets: { program: 0, infrastructure: 9 } }, roles);
    scenario.completes(scenario.task("tensorboard:0").containerId, -104);
    expect(scenario.task("tensorboard:0").phase).toBe("failed");
    expect(scenario.core.state.outcome).toBeUndefined();
    expect(told(scenario, "sidecar-given-up")).toEqual([
      expect.stringMatching(/^The job goes on without tensorboard:0: tensorboard:0 ran out of memory on n2; /),
    ]);
  });
});

describe("a container that we gave back", () => {
  test.each([-100, -105])("is not judged by the end that we ordered: %i", (status) => {
    const scenario = allocated();
    scenario.readyAll();
    scenario.startedAll();
    scenario.exits("worker:0", { signal: "SIGBUS" });
    scenario.stops("worker:1");
    const { blame } = structuredClone(scenario.core.state);
    scenario.completes("c1", status, "Container released by application");
    expect(scenario.core.state.blame).toEqual(blame);
    expect(scenario.used).toEqual({ program: 0, infrastructure: 1 });
    expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ exit: "SIGBUS" });
    expect(scenario.core.state.containers.c1).toBeUndefined();
  });
});

test("programs that do not stop in time are told, and their containers stopped: they are no cause", () => {
  const scenario = allocated();
  scenario.readyAll();
  scenario.startedAll();
  scenario.exits("worker:0", { exitCode: 1 });
  scenario.after(scenario.core.spec.timeouts.stopGraceMs * 3);
  expect(told(scenario, "stop-overdue")).toEqual(["worker:1 did not stop in time: its container is stopped."]);
  expect(scenario.effects).toContainEqual(expect.objectContaining({ type: "stop-container", containerId: "c2" }));
  expect(scenario.effects).not.toContainEqual(expect.objectContaining({ type: "stop-container", containerId: "c1" }));
  expect(scenario.gang.generations[0]?.endedBy).toMatchObject({ task: "worker:0" });
  expect(scenario.used).toEqual({ program: 1, infrastructure: 0 });
});
