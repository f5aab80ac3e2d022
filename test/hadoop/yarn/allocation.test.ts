import { describe, expect, test } from "@jest/globals";
import { type hadoop, yarn } from "../../../src/hadoop/wire/yarn.ts";
import {
  allocationFromWire,
  commandFromWire,
  registrationFromWire,
  resourceRequestToWire,
} from "../../../src/hadoop/yarn/convert-allocation.ts";
import { containerIdToWire } from "../../../src/hadoop/yarn/convert-ids.ts";
import { ResourceTypes } from "../../../src/hadoop/yarn/resource-types.ts";

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

  test("the rows of the negotiable form in full", () => {
    const resource = {
      priority: { priority: 3 },
      relax_locality: false,
      node_label_expression: "gpu",
      allocation_request_id: 4,
    };
    const { preemption } = allocationFromWire(decoded({ preempt: { contract: { resource: [{ resource }, {}] } } }));
    expect(preemption?.negotiable.resources).toMatchObject([
      { relaxLocality: false, nodeLabelExpression: "gpu", allocationRequestId: 4 },
    ]);
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

const container = (id: string) => ({
  id: containerIdToWire(id),
  nodeId: { host: "n1", port: 8041 },
  resource: { memory: 512, virtual_cores: 1 },
});
const token = { identifier: Uint8Array.of(1), password: Uint8Array.of(2), kind: "NMToken", service: "n1:8041" };
const nodeTokens = [{ nodeId: { host: "n1", port: 8041 }, token }, { nodeId: { host: "n3", port: 1 } }];

test("an answer to a heartbeat has all that the ResourceManager says", () => {
  const rejected = {
    reason: yarn.RejectionReasonProto.RRP_COULD_NOT_PLACE_ON_NODE,
    request: { priority: { priority: 3 }, resourceSizing: { numAllocations: 2 } },
  };
  const answer = decoded({
    allocated_containers: [container(one)],
    completed_container_statuses: [{ container_id: containerIdToWire(two) }],
    rejected_scheduling_requests: [rejected],
    updated_nodes: [{ nodeId: { host: "n2", port: 8041 } }],
    limit: { memory: 1_024, virtual_cores: 4 },
    num_cluster_nodes: 7,
    nm_tokens: nodeTokens,
    containers_from_previous_attempts: [container(two)],
    application_priority: { priority: 5 },
  });
  expect(allocationFromWire(answer)).toMatchObject({
    allocated: [{ id: one }],
    completed: [{ containerId: two }],
    rejected: [{ priority: 3, count: 2, reason: "could not place" }],
    updatedNodes: [{ nodeId: "n2:8041" }],
    available: { memoryMiB: 1_024, vcores: 4 },
    clusterNodeCount: 7,
    nodeTokens: [{ nodeId: "n1:8041", token }],
    containersFromPreviousAttempts: [{ id: two }],
    applicationPriority: 5,
  });
  expect(allocationFromWire({})).toEqual({
    ...{ allocated: [], completed: [], rejected: [], updatedNodes: [], clusterNodeCount: 0, nodeTokens: [] },
    ...{ available: { memoryMiB: 0, vcores: 0, others: {} }, containersFromPreviousAttempts: [] },
  });
});

test("an answer to a registration has all that the ResourceManager says", () => {
  expect(
    registrationFromWire({
      maximumCapability: { memory: 8_192, virtual_cores: 4 },
      queue: "ml",
      resource_types: [{ name: "yarn.io/gpu" }, { name: "disk", units: "Gi" }],
      containers_from_previous_attempts: [container(one)],
      nm_tokens_from_previous_attempts: nodeTokens,
      client_to_am_token_master_key: Buffer.of(9, 8),
    }),
  ).toEqual({
    answered: true,
    maximum: { memoryMiB: 8_192, vcores: 4, others: {} },
    queue: "ml",
    resourceTypes: [
      { name: "yarn.io/gpu", units: "" },
      { name: "disk", units: "Gi" },
    ],
    counted: "memory",
    containersFromPreviousAttempts: [expect.objectContaining({ id: one })],
    nodeTokens: [{ nodeId: "n1:8041", token }],
    clientToAmMasterKey: Uint8Array.of(9, 8),
  });
  expect(registrationFromWire({ client_to_am_token_master_key: new Uint8Array() })).not.toHaveProperty(
    "clientToAmMasterKey",
  );
});

test("a row is told in full, and anywhere is as good unless it says otherwise", () => {
  const row = { priority: 3, resourceName: "n1", capability: { memoryMiB: 512, vcores: 1, others: {} }, count: 2 };
  const { GUARANTEED, OPPORTUNISTIC } = yarn.ExecutionTypeProto;
  const types = new ResourceTypes([]);
  const told = {
    priority: { priority: 3 },
    resource_name: "n1",
    capability: { memory: 512, virtual_cores: 1, resource_value_map: [] },
    num_containers: 2,
  };
  expect(resourceRequestToWire(row, types)).toEqual({
    ...told,
    relax_locality: true,
    execution_type_request: { execution_type: GUARANTEED, enforce_execution_type: false },
    allocation_request_id: -1,
  });
  expect(
    resourceRequestToWire(
      {
        ...row,
        relaxLocality: false,
        nodeLabelExpression: "",
        executionType: "OPPORTUNISTIC",
        allocationRequestId: 4,
      },
      types,
    ),
  ).toEqual({
    ...told,
    relax_locality: false,
    node_label_expression: "",
    execution_type_request: { execution_type: OPPORTUNISTIC, enforce_execution_type: false },
    allocation_request_id: 4,
  });
});
