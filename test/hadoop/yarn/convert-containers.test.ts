import { expect, test } from "@jest/globals";
import { containerFromWire, containerStatusFromWire } from "../../../src/hadoop/yarn/convert-containers.ts";
import { containerIdToWire } from "../../../src/hadoop/yarn/convert-ids.ts";

const id = "container_1_0001_01_000002";

test("a container that has not ended has YARN's number for that, which is no program's exit code", () => {
  const status = (exit_status?: number) =>
    containerStatusFromWire({
      container_id: containerIdToWire(id),
      ...(exit_status === undefined ? {} : { exit_status }),
    }).exitStatus;
  expect([status(), status(0), status(-104)]).toEqual([-1000, 0, -104]);
});

test("a container that was asked for without a number of its own has none, and no token where none came", () => {
  const container = containerFromWire({
    id: containerIdToWire(id),
    nodeId: { host: "n1", port: 8041 },
    resource: { memory: 512, virtual_cores: 1 },
  });
  expect(container).toMatchObject({ id, nodeId: "n1:8041", priority: 0, allocationRequestId: -1, version: 0 });
  expect(container).not.toHaveProperty("token");
});
