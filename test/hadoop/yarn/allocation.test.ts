import { describe, expect, test } from "@jest/globals";
import { type hadoop, yarn } from "../../../src/hadoop/wire/yarn.ts";
import {
  allocationFromWire,
  commandFromWire,
  registrationFromWire,
} from "../../../src/hadoop/yarn/convert-allocation.ts";
import { containerIdToWire } from "../../../src/hadoop/yarn/convert-ids.ts";

function decoded(answer: hadoop.yarn.AllocateResponseProto.$Properties): hadoop.yarn.AllocateResponseProto {
  return yarn.AllocateResponseProto.decode(yarn.AllocateResponseProto.encode(answer).finish());
}

const one = "container_e01_1795305600000_0001_01_000002";
const two = "container_e01_1795305600000_0001_01_000003";

describe("preemption messages", () => {
  test("the strict form, which FairScheduler uses", () => {
    const message = decoded({ preempt: { strictContract: { container: [{ id: containerIdToWire(one) }] } } });
    expect(allocationFromWire(message).preemption).toEqual({
      strict: [one],
      negotiable: { containers: [], resources: [] },
    });
  });

  test("the negotiable form, which CapacityScheduler uses", () => {
    const resource = {
      priority: { priority: 3 },
      resource_name: "*",
      num_containers: 2,
      capability: { memory: 512, virtual_cores: 1 },
    };
    const contract = {
      container: [{ id: containerIdToWire(one) }, { id: containerIdToWire(two) }],
      resource: [{ resource }],
    };
    expect(allocationFromWire(decoded({ preempt: { contract } })).preemption).toEqual({
      strict: [],
      negotiable: {
        containers: [one, two],
        resources: [
          {
            priority: 3,
            resourceName: "*",
            count: 2,
            capability: { memoryMiB: 512, vcores: 1, others: {} },
            relaxLocality: true,
            executionType: "GUARANTEED",
            allocationRequestId: -1,
          },
        ],
      },
    });
  });

  test("none in an ordinary heartbeat", () => {
    expect(allocationFromWire(decoded({ response_id: 1 }))).not.toHaveProperty("preemption");
  });
});

test("a scheduler that counts cores, too, says so at the registration; others count memory", () => {
  const { MEMORY, CPU } = yarn.SchedulerResourceTypes;
  const counted = (...scheduler_resource_types: (typeof MEMORY | typeof CPU)[]) =>
    registrationFromWire({ scheduler_resource_types }).counted;
  expect([counted(), counted(MEMORY), counted(MEMORY, CPU)]).toEqual(["memory", "memory", "all"]);
});

test("orders an answer without one does not read as the first of them", () => {
  expect(commandFromWire(decoded({ response_id: 1 }))).toBeUndefined();
  expect(commandFromWire(decoded({ a_m_command: yarn.AMCommandProto.AM_RESYNC }))).toBe("RESYNC");
  expect(commandFromWire(decoded({ a_m_command: yarn.AMCommandProto.AM_SHUTDOWN }))).toBe("SHUTDOWN");
});

test("a container's end without diagnostics has none", () => {
  const status = {
    container_id: containerIdToWire(one),
    state: yarn.ContainerStateProto.C_COMPLETE,
    exit_status: -102,
  };
  expect(allocationFromWire(decoded({ completed_container_statuses: [status] })).completed).toEqual([
    { containerId: one, state: "COMPLETE", exitStatus: -102, diagnostics: "" },
  ]);
});
