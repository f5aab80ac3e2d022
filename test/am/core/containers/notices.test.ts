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
