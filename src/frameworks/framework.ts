import type { ClusterSpec } from "../job/cluster-spec.ts";
import type { JobSpec, RoleSpec } from "../job/spec.ts";

/** One task of a gang that is complete, as a framework sees it. */
export interface GangTask {
  readonly spec: JobSpec;
  readonly cluster: ClusterSpec;
  readonly role: RoleSpec;
  readonly index: number;
}

/** What a framework's programs must be told to find each other; one file each. */
export interface FrameworkEnvironment {
  /** Variables by name, beside those that every program gets. Pure. */
  readonly environment: (task: GangTask) => Readonly<Record<string, string>>;
}
