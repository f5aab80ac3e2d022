import type { PlacementConstraint } from "../../hadoop/yarn/placement-constraint.ts";
import { constraintKey } from "../constraint-key.ts";
import { keyFor } from "../keys.ts";
import { listWords } from "../reasons/words.ts";
import type { RoleSpec } from "../spec.ts";
import { missingRole } from "./build-roles.ts";
import type { JobReader } from "./job-reader.ts";

const PREPARE = "tony.application.prepare-stage";
const TRAINING = "tony.application.training-stage";

/** The roles that a role waits for, each with the key that says so. */
type Dependencies = ReadonlyMap<string, string>;

/** The roles, each with those whose stages must be completed first; a role that can never begin is an error. */
export function buildStages(reader: JobReader, all: readonly RoleSpec[]): RoleSpec[] {
  const roles = all.filter(({ inMaster }) => inMaster === undefined);
  const first = all.flatMap(({ name, inMaster }) => (inMaster === undefined ? [] : [name]));
  const stages = stagesOfTony(reader, roles);
  const dependencies = new Map(
    roles.map((role) => [role.name, new Map([...stages(role.name), ...namedBy(reader, role.name, roles)])]),
  );
  checkCycles(
    reader,
    new Map(
      roles.map((role) => [
        role.name,
        new Map([...besides(reader, role, roles), ...(dependencies.get(role.name) ?? [])]),
      ]),
    ),
  );
  return all.map((role) => {
    const others = [...(dependencies.get(role.name)?.keys() ?? [])];
    const dependsOn = role.inMaster === undefined ? [...first, ...others].sort() : [];
    return dependsOn.length === 0 ? role : { ...role, dependsOn };
  });
}

/** The roles named by `tony.{role}.depends-on`. */
function namedBy(reader: JobReader, role: string, roles: readonly RoleSpec[]): [string, string][] {
  const key = keyFor("tony.{role}.depends-on", { role });
  const names = reader.read("tony.{role}.depends-on", { role }) ?? [];
  return existing(reader, key, names, roles).flatMap((name) => {
    if (roles.some((other) => other.name === name && other.tracking !== "tracked")) {
      reader.warn(
        key,
        `has no effect for ${name}, which is not tracked: nobody waits for its end, and both start together`,
      );
      return [];
    }
    return [[name, key]];
  });
}

/** TonY's prepare and training stages; the unnamed one consists of all other roles. */
function stagesOfTony(reader: JobReader, roles: readonly RoleSpec[]): (role: string) => [string, string][] {
  const named = (key: typeof PREPARE | typeof TRAINING) =>
    reader.has(key) ? existing(reader, key, reader.read(key) ?? [], roles) : undefined;
  const [prepare, training] = [named(PREPARE), named(TRAINING)];
  if (prepare === undefined && training === undefined) return () => [];
  const both = (prepare ?? []).filter((name) => training?.includes(name));
  if (both.length > 0) reader.error(TRAINING, `names ${both.join(", ")}, which ${PREPARE} names as well`);
  const neither = roles.filter(({ name, tracking }) => {
    return tracking !== "sidecar" && prepare?.includes(name) === false && training?.includes(name) === false;
  });
  if (neither.length > 0) {
    const names = neither.map(({ name }) => name).join(", ");
    reader.error(
      TRAINING,
      `leaves out ${names}, which ${PREPARE} does not name either: put each role into one of them`,
    );
  }
  const inTraining = (name: string) => training?.includes(name) ?? prepare?.includes(name) === false;
  const key = training === undefined ? PREPARE : TRAINING;
  const before = roles.filter(({ name, tracking }) => tracking === "tracked" && !inTraining(name));
  return (role) => (inTraining(role) ? before.map(({ name }) => [name, key]) : []);
}

/**
 * Roles of which a container has to exist before YARN can place one of this role, by its constraint: without it on a node or rack none is
 * placed there, not even one of the role's own kind (PlacementConstraintsUtil#canSatisfySingleConstraintExpression). Where several roles have
 * a tag, any of them would do.
 */
function besides(reader: JobReader, { name, constrained }: RoleSpec, roles: readonly RoleSpec[]): [string, string][] {
  const key = constraintKey(name, (one) => reader.settings.has(one));
  return neededTags(constrained?.constraint).flatMap((tag) => {
    const [role, ...others] = roles.filter((one) => one.constrained?.tags.includes(tag));
    return role === undefined || others.length > 0 ? [] : [[role.name, key]];
  });
}

/** Tags of this application that a container nearby must have. */
function neededTags(constraint: PlacementConstraint | undefined): string[] {
  if (constraint?.kind === "and") return constraint.of.flatMap(neededTags);
  if (constraint?.kind !== "tags" || constraint.min === 0) return [];
  const [target, ...others] = constraint.tags;
  return target === undefined || others.length > 0 || target.namespace !== undefined ? [] : [target.tag];
}

/** The roles of a list that the job has; the others are errors, because a stage without dependencies would begin at once. */
function existing(reader: JobReader, key: string, names: readonly string[], roles: readonly RoleSpec[]): string[] {
  const known = roles.map(({ name }) => name);
  for (const name of names.filter((one) => !known.includes(one))) {
    reader.error(key, missingRole(name, known));
  }
  return names.filter((name) => known.includes(name));
}

/** Roles in a cycle would wait for each other for ever. */
function checkCycles(reader: JobReader, dependencies: ReadonlyMap<string, Dependencies>): void {
  const done = new Set<string>();
  for (const role of dependencies.keys()) {
    const cycle = cycleFrom(role, dependencies, done, []);
    if (cycle !== undefined) {
      const keys = cycle.map((name, at) => dependencies.get(name)?.get(cycle[at + 1] ?? cycle[0] ?? "") ?? "");
      const [first = ""] = keys;
      const others = [...new Set(keys.slice(1))].filter((key) => key !== first);
      const places = others.map((key) => `${key} (${reader.settings.get(key)?.at})`);
      const by = others.length === 0 ? "" : `, by ${listWords(places)} as well`;
      reader.error(first, `makes roles wait for each other: ${[...cycle, cycle[0]].join(" → ")}${by}`);
      return;
    }
  }
}

/** The roles of a cycle that is reachable from a role, each waiting for the next; `done` are known to be in no cycle. */
function cycleFrom(
  role: string,
  dependencies: ReadonlyMap<string, Dependencies>,
  done: Set<string>,
  path: readonly string[],
): string[] | undefined {
  if (path.includes(role)) return path.slice(path.indexOf(role));
  if (done.has(role)) return undefined;
  for (const next of dependencies.get(role)?.keys() ?? []) {
    const cycle = cycleFrom(next, dependencies, done, [...path, role]);
    if (cycle !== undefined) return cycle;
  }
  done.add(role);
  return undefined;
}
