import {
  type PlacementRule,
  parsePlacementConstraint,
  parsePlacementRules,
} from "../../hadoop/yarn/parse-placement.ts";
import type {
  Composite,
  NodeAttribute,
  PlacementConstraint,
  TagCardinality,
} from "../../hadoop/yarn/placement-constraint.ts";
import { arrayOf, bool, count, literal, object, type Shape, string } from "../shape.ts";
import type { KeyType } from "./types.ts";

const tags = object<TagCardinality>({
  required: {
    kind: literal("tags"),
    scope: literal("node", "rack"),
    min: count,
    max: count,
    tags: arrayOf(
      object<{ namespace?: string; tag: string }>({ required: { tag: string }, optional: { namespace: string } }),
    ),
  },
  optional: {},
});
const attribute = object<NodeAttribute>({
  required: { kind: literal("attribute"), name: string, is: bool, values: arrayOf(string) },
  optional: {},
});
const kindOf = object<Pick<PlacementConstraint, "kind">>({
  required: { kind: literal("tags", "attribute", "and", "or") },
  optional: {},
});

const constraint: Shape<PlacementConstraint> = (value, where) => {
  const { kind } = kindOf(value, where);
  if (kind === "tags") return tags(value, where);
  return kind === "attribute" ? attribute(value, where) : composite(value, where);
};
const composite: Shape<Composite> = object<Composite>({
  required: { kind: literal("and", "or"), of: (value, where) => arrayOf(constraint)(value, where) },
  optional: {},
});

/** YARN's placement constraints in the syntax of TonY and DistributedShell. */
export const placementConstraint: KeyType<PlacementConstraint> = {
  label: "placement constraint",
  parse: parsePlacementConstraint,
  shape: constraint,
};

/** Several constraints, each possibly for the containers with one tag. */
export const placementRules: KeyType<readonly PlacementRule[]> = {
  label: "placement constraints",
  parse: parsePlacementRules,
  shape: arrayOf(object<PlacementRule>({ required: { constraint }, optional: { sourceTag: string } })),
};
