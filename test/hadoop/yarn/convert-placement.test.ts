import { describe, expect, test } from "@jest/globals";
import { yarn } from "../../../src/hadoop/wire/yarn.ts";
import type { SchedulingRequest } from "../../../src/hadoop/yarn/allocation.ts";
import { rejectedFromWire, schedulingRequestToWire } from "../../../src/hadoop/yarn/convert-placement.ts";
import { parsePlacementConstraint } from "../../../src/hadoop/yarn/parse-placement.ts";
import { ResourceTypes } from "../../../src/hadoop/yarn/resource-types.ts";

const { NODE_ATTRIBUTE, ALLOCATION_TAG } = yarn.PlacementConstraintTargetProto.TargetType;
const request: SchedulingRequest = {
  priority: 3,
  capability: { memoryMiB: 512, vcores: 1, others: {} },
  count: 2,
  tags: ["w"],
};

/** The constraint that the ResourceManager is told. */
function toldOf(text: string, nodeLabel?: string) {
  const label = nodeLabel === undefined ? {} : { nodeLabel };
  return told({ ...request, constraint: parsePlacementConstraint(text), ...label });
}

function told(one: SchedulingRequest) {
  return schedulingRequestToWire(one, new ResourceTypes([])).placementConstraint;
}

describe("a request with constraints, as the ResourceManager is told of it", () => {
  test("its count, size and tags", () => {
    expect(schedulingRequestToWire(request, new ResourceTypes([]))).toMatchObject({
      priority: { priority: 3 },
      allocationTags: ["w"],
      resourceSizing: { numAllocations: 2, resources: { memory: 512, virtual_cores: 1 } },
    });
    expect(told(request)).toBeUndefined();
    expect(schedulingRequestToWire(request, new ResourceTypes([]))).toMatchObject({
      allocationRequestId: -1,
      executionType: { execution_type: yarn.ExecutionTypeProto.GUARANTEED, enforce_execution_type: true },
    });
    expect(schedulingRequestToWire(request, new ResourceTypes([]))).not.toHaveProperty("placementConstraint");
  });

  test("containers of one tag apart", () => {
    expect(toldOf("notin,node,w")?.simpleConstraint).toEqual({
      scope: "node",
      minCardinality: 0,
      maxCardinality: 0,
      targetExpressions: [{ targetType: ALLOCATION_TAG, targetValues: ["w"] }],
    });
  });

  test("a tag of others' containers names its namespace", () => {
    expect(toldOf("notin,node,all/w")?.simpleConstraint?.targetExpressions).toEqual([
      { targetType: ALLOCATION_TAG, targetKey: "all", targetValues: ["w"] },
    ]);
  });

  test("a node's attribute", () => {
    expect(toldOf("java=1.8")?.simpleConstraint?.attributeOpCode).toBe(yarn.NodeAttributeOpCodeProto.EQ);
    expect(toldOf("java!=1.8")?.simpleConstraint).toMatchObject({
      scope: "node",
      minCardinality: -1,
      maxCardinality: -1,
      attributeOpCode: yarn.NodeAttributeOpCodeProto.NE,
      targetExpressions: [{ targetType: NODE_ATTRIBUTE, targetKey: "java", targetValues: ["1.8"] }],
    });
  });

  test("a label is one more target of a simple constraint, or the only one", () => {
    const label = { targetType: NODE_ATTRIBUTE, targetKey: "yarn_node_partition/", targetValues: ["gpu"] };
    expect(toldOf("notin,node,w", "gpu")?.simpleConstraint?.targetExpressions).toContainEqual(label);
    expect(told({ ...request, nodeLabel: "gpu" })?.simpleConstraint?.targetExpressions).toEqual([label]);
    expect(told({ ...request, nodeLabel: "gpu" })?.simpleConstraint).toMatchObject({
      ...{ scope: "node", minCardinality: 1, maxCardinality: 1 },
    });
    expect(told({ ...request, nodeLabel: "" })).toBeUndefined();
  });

  test("several constraints together", () => {
    const { AND, OR } = yarn.CompositePlacementConstraintProto.CompositeType;
    expect(toldOf("or(notin,node,w:and(in,rack,w:java=1.8))")?.compositeConstraint).toMatchObject({
      compositeType: OR,
      childConstraints: [
        { simpleConstraint: { maxCardinality: 0 } },
        { compositeConstraint: { compositeType: AND, childConstraints: [{}, {}] } },
      ],
    });
  });
});

test.each([
  ["could not place", yarn.RejectionReasonProto.RRP_COULD_NOT_PLACE_ON_NODE],
  ["could not schedule", yarn.RejectionReasonProto.RRP_COULD_NOT_SCHEDULE_ON_NODE],
])("what the ResourceManager %s", (words, reason) => {
  const message = { reason, request: schedulingRequestToWire(request, new ResourceTypes([])) };
  expect(rejectedFromWire(message)).toEqual({ priority: 3, count: 2, reason: words });
});
