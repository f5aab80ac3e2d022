import type { JobSpec } from "../job/spec.ts";
import { isOneStage } from "../job/stages.ts";
import { addressesOf } from "./addresses.ts";
import type { FrameworkDefinition, GangTask } from "./framework.ts";
import type { tensorflowVariables } from "./variables.ts";

const EVALUATOR = "evaluator";

/** TF_CONFIG as tf.distribute reads it, and CLUSTER_SPEC as TonY adds it. */
export const tensorflow: FrameworkDefinition<keyof typeof tensorflowVariables> = {
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
 * TensorFlow waits for every member of its cluster, so it excludes sidecars such as TensorBoard, and roles of another stage that run on;
 * an evaluator is a member only to itself (tf.distribute's documentation of TF_CONFIG).
 */
function inCluster(spec: JobSpec, role: string, own: string): boolean {
  if (!isOneStage(spec.roles, role, own)) return false;
  if (role === EVALUATOR) return own === EVALUATOR;
  return spec.roles.find(({ name }) => name === role)?.tracking !== "sidecar";
}
