import type { Resource } from "../../hadoop/yarn/records.ts";
import { hasErrors } from "../problem.ts";
import type { Settings } from "../settings.ts";
import type { JobSpec } from "../spec.ts";
import { type ContainerFacts, readResource } from "./build-roles.ts";
import { type CheckedJob, orphanMs } from "./build-spec.ts";
import { JobReader } from "./job-reader.ts";

/** What a job takes from the cluster that it goes to. */
export interface FittingFacts extends ContainerFacts {
  /** The longest expiry of an ApplicationMaster or node. */
  readonly clusterExpiryMs?: number;
}

/**
 * A job that was built, as this cluster has it: amounts in its units, and a wait that outlasts its own.
 * @param settings it was built from
 * @returns the problems that only the cluster shows
 */
export function fitToCluster(spec: JobSpec, settings: Settings, facts: FittingFacts): CheckedJob {
  const reader = new JobReader(settings, { workingDirectory: "", lookUp: () => undefined });
  const inItsUnits = (role: string, resource: Resource): Resource => {
    const { others } = readResource(reader, role, facts);
    return { ...resource, others };
  };
  const roles = spec.roles.map((role) =>
    role.inMaster === true ? role : { ...role, resource: inItsUnits(role.name, role.resource) },
  );
  const am = { ...spec.am, resource: inItsUnits("am", spec.am.resource) };
  const { problems } = reader;
  if (hasErrors(problems)) return { problems };
  const timeouts = { ...spec.timeouts, orphanMs: orphanMs(reader, facts.clusterExpiryMs) };
  return { spec: { ...spec, am, roles, timeouts }, problems };
}
