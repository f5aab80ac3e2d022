import type { ClusterSpec } from "../job/cluster-spec.ts";
import type { JobSpec, RoleSpec } from "../job/spec.ts";

/** One task of a gang that is complete, as a framework sees it. */
export interface GangTask {
  readonly spec: JobSpec;
  readonly cluster: ClusterSpec;
  readonly role: RoleSpec;
  readonly index: number;
}

/** What a framework's programs must be told to find each other; one file each, and its variables in `variables.ts`. */
export interface FrameworkEnvironment<Variable extends string> {
  /** Variables by name, beside those that every program gets; undefined for a task that takes no part. Pure. */
  readonly environment: (task: GangTask) => Readonly<Record<Variable, string>> | undefined;
}
