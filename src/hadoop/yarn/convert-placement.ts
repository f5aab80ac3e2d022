/** Scheduling requests and placement constraints ⇄ messages. */
import { type hadoop, yarn } from "../wire/yarn.ts";
import type { RejectedRequest, SchedulingRequest } from "./allocation.ts";
import { executionTypes } from "./convert-enums.ts";
import { resourceToWire } from "./convert-resources.ts";
import type { PlacementConstraint, TagTarget } from "./placement-constraint.ts";
import type { ResourceTypes } from "./resource-types.ts";

type WireConstraint = hadoop.yarn.PlacementConstraintProto.$Properties;
type WireTarget = hadoop.yarn.PlacementConstraintTargetProto.$Properties;

/** The value of ResourceRequests without an id: the priority tells which request a container answers. */
const noAllocationRequestId = -1;
/** org.apache.hadoop.yarn.api.resource.PlacementConstraints.NODE_PARTITION */
const nodePartition = "yarn_node_partition/";
const { NODE_ATTRIBUTE, ALLOCATION_TAG } = yarn.PlacementConstraintTargetProto.TargetType;
const { AND, OR } = yarn.CompositePlacementConstraintProto.CompositeType;
/** PlacementConstraints#targetNodeAttribute: attributes have no cardinality. */
const notCounted = -1;

/** Throws UnknownResourceTypeError. */
export function schedulingRequestToWire(
  { priority, capability, count, tags, constraint, nodeLabel }: SchedulingRequest,
  types: ResourceTypes,
): hadoop.yarn.SchedulingRequestProto.$Properties {
  const label = nodeLabel === undefined || nodeLabel === "" ? [] : [attributeTarget(nodePartition, [nodeLabel])];
  const placement = constraint === undefined ? labelAlone(label) : constraintToWire(constraint, label);
  return {
    allocationRequestId: noAllocationRequestId,
    priority: { priority },
    executionType: { execution_type: executionTypes.toWire("GUARANTEED"), enforce_execution_type: true },
    allocationTags: [...tags],
    resourceSizing: { numAllocations: count, resources: resourceToWire(capability, types) },
    ...(placement === undefined ? {} : { placementConstraint: placement }),
  };
}

function labelAlone(label: WireTarget[]): WireConstraint | undefined {
  if (label.length === 0) return undefined;
  return { simpleConstraint: { scope: "node", minCardinality: 1, maxCardinality: 1, targetExpressions: label } };
}

/** @param label another target of a simple constraint */
function constraintToWire(constraint: PlacementConstraint, label: WireTarget[] = []): WireConstraint {
  if (constraint.kind === "tags") {
    const { scope, min, max, tags } = constraint;
    const targets = tags.map(tagTarget);
    const counted = { scope, minCardinality: min, maxCardinality: max };
    return { simpleConstraint: { ...counted, targetExpressions: [...targets, ...label] } };
  }
  if (constraint.kind === "attribute") {
    const { name, is, values } = constraint;
    const attributeOpCode = is ? yarn.NodeAttributeOpCodeProto.EQ : yarn.NodeAttributeOpCodeProto.NE;
    const counted = { scope: "node", minCardinality: notCounted, maxCardinality: notCounted, attributeOpCode };
    return { simpleConstraint: { ...counted, targetExpressions: [attributeTarget(name, values), ...label] } };
  }
  const childConstraints = constraint.of.map((child) => constraintToWire(child));
  return { compositeConstraint: { compositeType: constraint.kind === "and" ? AND : OR, childConstraints } };
}

function attributeTarget(name: string, values: readonly string[]): WireTarget {
  return { targetType: NODE_ATTRIBUTE, targetKey: name, targetValues: [...values] };
}

function tagTarget({ namespace, tag }: TagTarget): WireTarget {
  const target = { targetType: ALLOCATION_TAG, targetValues: [tag] };
  return namespace === undefined ? target : { ...target, targetKey: namespace };
}

export function rejectedFromWire({
  reason,
  request,
}: hadoop.yarn.RejectedSchedulingRequestProto.$Properties): RejectedRequest {
  const unplaced = reason === yarn.RejectionReasonProto.RRP_COULD_NOT_PLACE_ON_NODE;
  return {
    priority: request?.priority?.priority ?? 0,
    count: request?.resourceSizing?.numAllocations ?? 0,
    reason: unplaced ? "could not place" : "could not schedule",
  };
}
