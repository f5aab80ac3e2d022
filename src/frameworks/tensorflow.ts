import { formatHostPort } from "../hadoop/conf/values.ts";
import type { JobSpec } from "../job/spec.ts";
import { isOneStage } from "../job/stages.ts";
import { formatTaskId } from "../job/task.ts";
import type { FrameworkEnvironment, GangTask } from "./framework.ts";
import type { tensorflowVariables } from "./variables.ts";

/** `role → host:port of each index`, in the job's order: tf.train.ClusterSpec's form. */
type Addresses = Readonly<Record<string, readonly string[]>>;

const EVALUATOR = "evaluator";

/** TF_CONFIG as tf.distribute reads it, and CLUSTER_SPEC as TonY adds it. */
export const tensorflow: FrameworkEnvironment<keyof typeof tensorflowVariables> = {
  environment: (task) => ({
    CLUSTER_SPEC: JSON.stringify(addressesOf(task)),
    TF_CONFIG: JSON.stringify(tfConfig(task)),
  }),
};

/** The task goes first, as TonY writes it. */
function tfConfig(task: GangTask): object {
  const addresses = Object.entries(addressesOf(task)).filter(([role]) => inCluster(task.spec, role, task.role.name));
  return { task: { type: task.role.name, index: task.index }, cluster: Object.fromEntries(addresses) };
}

/**
 * TensorFlow waits for every member of its cluster: sidecars such as TensorBoard are none, nor is what runs on from another stage, and an
 * evaluator only to itself (tf.distribute's documentation of TF_CONFIG).
 */
function inCluster(spec: JobSpec, role: string, own: string): boolean {
  if (!isOneStage(spec.roles, role, own)) return false;
  if (role === EVALUATOR) return own === EVALUATOR;
  return spec.roles.find(({ name }) => name === role)?.tracking !== "sidecar";
}

/** Roles of other stages are listed where they run. */
function addressesOf({ spec, cluster, role: own }: GangTask): Addresses {
  const byTask = new Map(cluster.tasks.map((address) => [address.task, formatHostPort(address)]));
  const all = spec.roles.map(({ name, instances }): [string, string[]] => [
    name,
    Array.from({ length: instances }, (_, index) => byTask.get(formatTaskId(name, index)) ?? []).flat(),
  ]);
  return Object.fromEntries(all.filter(([name, some]) => some.length > 0 || isOneStage(spec.roles, name, own.name)));
}
