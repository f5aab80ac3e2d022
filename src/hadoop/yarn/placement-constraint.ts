/**
 * Restricts where containers may be placed, relative to others or by attributes of nodes
 * (org.apache.hadoop.yarn.api.resource.PlacementConstraint).
 */
export type PlacementConstraint = TagCardinality | NodeAttribute | Composite;

/**
 * The minimum and maximum number of containers with each of the tags on the node or rack before one more is placed there: 0 and 0 for none,
 * 1 and `UNBOUNDED` for some (PlacementConstraints#targetNotIn, #targetIn, #targetCardinality).
 */
export interface TagCardinality {
  readonly kind: "tags";
  readonly scope: PlacementScope;
  readonly min: number;
  readonly max: number;
  readonly tags: readonly TagTarget[];
}

export type PlacementScope = "node" | "rack";

/** Without a namespace, the tag refers to this application's containers (AllocationTagNamespaceType). */
export interface TagTarget {
  readonly namespace?: string;
  readonly tag: string;
}

/** The node's attribute has one of the values, or none of them. */
export interface NodeAttribute {
  readonly kind: "attribute";
  readonly name: string;
  readonly is: boolean;
  readonly values: readonly string[];
}

export interface Composite {
  readonly kind: "and" | "or";
  readonly of: readonly PlacementConstraint[];
}

/** Integer.MAX_VALUE: no upper limit. */
export const UNBOUNDED = 2_147_483_647;
