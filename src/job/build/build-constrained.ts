import type { PlacementConstraint } from "../../hadoop/yarn/placement-constraint.ts";
import { constraintKey } from "../constraint-key.ts";
import { keyFor } from "../keys.ts";
import { nearest } from "../nearest.ts";
import type { Constrained, RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";

/** How YARN should place a role's containers; undefined where it may place them anywhere and no constraint names them. */
export function buildConstrained(reader: JobReader, role: string): Constrained | undefined {
  const tags =
    reader.read("tony.{role}.allocation-tags", { role }) ?? reader.read("tony.containers.allocation-tags") ?? [];
  const own = reader.read("tony.{role}.placement-spec", { role }) ?? reader.read("tony.containers.placement-spec");
  const rules = reader.read("tony.application.placement-spec") ?? [];
  const forAll = rules.flatMap(({ sourceTag, constraint }) =>
    sourceTag === undefined || tags.includes(sourceTag) ? [constraint] : [],
  );
  const [first, ...others] = [...(own === undefined ? [] : [own]), ...forAll];
  if (first === undefined) return tags.length === 0 ? undefined : { tags };
  return { tags, constraint: others.length === 0 ? first : { kind: "and", of: [first, ...others] } };
}

/** Reports placements that are impossible, or specified twice. */
export function checkConstrained(reader: JobReader, roles: readonly RoleSpec[]): void {
  const known = roles.flatMap(({ constrained }) => constrained?.tags ?? []);
  for (const { name: role, constrained, nodeLabel, placement } of roles) {
    if (constrained === undefined) continue;
    const key = constraintKey(role, (one) => reader.settings.has(one));
    if (placement !== "any") {
      const chosen = keyFor("tony.{role}.placement", { role });
      reader.error(chosen, `= ${placement} names hosts, which ${key} leaves to YARN; keep one of the two`);
    }
    if (constrained.constraint === undefined) continue;
    if (nodeLabel !== undefined && nodeLabel !== "" && "of" in constrained.constraint) {
      reader.error(key, `has several constraints, which YARN does not combine with a node label (${nodeLabel})`);
    }
    for (const tag of ownTags(constrained.constraint)) {
      if (known.includes(tag)) continue;
      const meant = nearest(tag, known);
      const hint = meant === undefined ? "set tony.<role>.allocation-tags" : `did you mean ${meant}?`;
      reader.error(key, `names tag ${tag}, which no role of the job has: ${hint}`);
    }
  }
}

/** Tags of this application's containers that a constraint names. */
function ownTags(constraint: PlacementConstraint): readonly string[] {
  if (constraint.kind === "attribute") return [];
  if (constraint.kind !== "tags") return constraint.of.flatMap(ownTags);
  return constraint.tags.flatMap(({ namespace, tag }) => (namespace === undefined ? [tag] : []));
}
