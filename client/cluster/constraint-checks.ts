import type { PlacementConstraint } from "../../src/hadoop/yarn/placement-constraint.ts";
import { constraintKey } from "../../src/job/constraint-key.ts";
import { nearest } from "../../src/job/nearest.ts";
import { keyProblem, type Problem } from "../../src/job/problem.ts";
import type { JobSpec } from "../../src/job/spec.ts";

/** Whether the job limits where YARN may place its containers. */
export function isConstrained({ roles }: JobSpec): boolean {
  return roles.some(({ constrained }) => constrained !== undefined);
}

/**
 * Placement constraints that this cluster ignores, and attributes that none of its nodes has. Only the registered
 * ApplicationMaster knows whether the cluster has a handler for constraints.
 */
export function constraintProblems(
  spec: JobSpec,
  { nodeAttributes }: { readonly nodeAttributes?: readonly string[] },
): Problem[] {
  return spec.roles.flatMap(({ name, constrained }) => {
    if (constrained === undefined) return [];
    const key = constraintKey(name, (one) => spec.sources[one] !== undefined);
    if (nodeAttributes === undefined) {
      return [
        keyProblem(
          "error",
          spec,
          key,
          `a ${name} has placement constraints, which this cluster's Hadoop does not support: it is older than 3.2 (${key})`,
        ),
      ];
    }
    return attributesIn(constrained.constraint)
      .filter((attribute) => !nodeAttributes.some((known) => known === attribute || known.endsWith(`/${attribute}`)))
      .map((attribute) => keyProblem("error", spec, key, unknownAttribute(name, attribute, nodeAttributes, key)));
  });
}

function unknownAttribute(role: string, attribute: string, known: readonly string[], key: string): string {
  const meant = nearest(
    attribute,
    known.map((one) => one.slice(one.indexOf("/") + 1)),
  );
  const there = known.length === 0 ? "the cluster has none" : `there are ${known.join(", ")}`;
  const hint = meant === undefined ? there : `did you mean ${meant}? ${there}`;
  return `a ${role} needs nodes with attribute ${attribute}, which no node has: ${hint} (${key})`;
}

/** Attributes that a node must have; one that it must not have need not exist anywhere. */
function attributesIn(constraint: PlacementConstraint | undefined): readonly string[] {
  if (constraint === undefined || constraint.kind === "tags") return [];
  if (constraint.kind === "attribute") return constraint.is ? [constraint.name] : [];
  return constraint.of.flatMap(attributesIn);
}
