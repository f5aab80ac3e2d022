import { expect, test } from "@jest/globals";
import { aJobSpec, aRole } from "../../../support/job-spec.ts";
import { Scenario } from "../scenario.ts";

test("an address that people open is shown only as the task's own container says it", () => {
  const scenario = new Scenario(aJobSpec({ roles: [aRole("worker", 1)] }));
  scenario.toRunning();
  const { containerId } = scenario.task("worker:0");
  const said = { type: "service-announced", task: "worker:0", name: "tensorboard" } as const;
  scenario.on({ ...said, containerId: "container_of_the_past", url: "http://stranger:1" });
  expect(scenario.core.state.services).toEqual([]);
  scenario.on({ ...said, containerId, url: "http://node:6006" });
  expect(scenario.core.state.services).toEqual([{ name: "tensorboard", task: "worker:0", url: "http://node:6006" }]);
  for (const url of ["javascript:alert(1)", "file:///etc/passwd", "node:6006", "http://node:no"])
    scenario.on({ ...said, containerId, url });
  expect(scenario.core.state.services).toEqual([{ name: "tensorboard", task: "worker:0", url: "http://node:6006" }]);
  for (let at = 0; at < 100; at += 1) scenario.on({ ...said, name: `board-${at}`, containerId, url: "http://node:1" });
  expect(scenario.core.state.services).toHaveLength(16);
});

test("an address that its task announces anew replaces the old one, and touches no other task's of that name", () => {
  const scenario = new Scenario(aJobSpec({ roles: [aRole("worker", 2)] }));
  scenario.toRunning();
  const announces = (task: string, name: string, url: string) =>
    scenario.on({ type: "service-announced", task, name, containerId: scenario.task(task).containerId, url });
  for (let at = 0; at < 15; at += 1) announces("worker:0", `board-${at}`, "http://a:1");
  announces("worker:0", "tensorboard", "http://a:6006");
  announces("worker:1", "tensorboard", "http://b:6006");
  announces("worker:0", "tensorboard", "https://a:7007");
  expect(scenario.core.state.services.slice(15)).toEqual([
    { name: "tensorboard", task: "worker:0", url: "https://a:7007" },
    { name: "tensorboard", task: "worker:1", url: "http://b:6006" },
  ]);
});

test("nobody announces an address for another task", () => {
  const scenario = new Scenario(aJobSpec({ roles: [aRole("worker", 2)] }));
  scenario.toRunning();
  const { containerId } = scenario.task("worker:1");
  scenario.on({ type: "service-announced", task: "worker:0", name: "tensorboard", containerId, url: "http://b:6006" });
  expect(scenario.core.state.services).toEqual([]);
});

test("each program whose container YARN wants back is told why, whatever containers are named before it", () => {
  const scenario = new Scenario(aJobSpec({ roles: [aRole("worker", 2)], preemption: { signal: "SIGUSR1" } }));
  scenario.register();
  scenario.allocateAll();
  scenario.readyAll();
  const { containerId, generation } = scenario.task("worker:1");
  scenario.on({ type: "child-started", task: "worker:1", containerId, generation, pid: 7, atMs: scenario.nowMs });
  const effects = scenario.on({ type: "preemption-notice", containerIds: ["another job's", "c1", "c2"], strict: true });
  const notice = { cause: "preemption", atMs: scenario.nowMs } as const;
  const reason = "YARN wants the container back";
  expect(effects.filter(({ type }) => type === "send")).toEqual([
    {
      type: "send",
      to: { task: "worker:1", containerId: "c2" },
      message: { type: "signal-child", generation: 1, signal: "SIGUSR1", reason, notice },
    },
  ]);
  expect(scenario.core.state.containers).toMatchObject({ c1: { phase: "held" }, c2: { notice } });
  expect(scenario.core.state.containers.c1?.notice).toBeUndefined();
});
