import type { FailureClass } from "../../../src/job/status.ts";
import type { ExecutorModel } from "../executor-model.ts";
import type { World } from "../world.ts";

/** Something that goes wrong once. `class`: the budget it may spend; absent: none at all. */
export interface Fault {
  readonly name: string;
  readonly class?: FailureClass;
  /** It may rightly end the job. */
  readonly ends?: true;
  /** An executor that cannot come back in time, when its stream breaks meanwhile. */
  readonly freezes?: true;
  /** The ApplicationMaster and an executor hear each other late. */
  readonly deafens?: true;
  /** Programs lose their connections to others that live on: nothing tells such a failure from one of their own. */
  readonly severs?: true;
  /** Containers of every job on a node are struck. */
  readonly concernsNodes?: true;
  /** HDFS is away. */
  readonly closesStaging?: true;
  /** The ApplicationMaster answers nobody for a while. */
  readonly halts?: true;
  /** Another attempt of the ApplicationMaster follows. */
  readonly recovers?: true;
  readonly strike: (world: World) => void;
}

/** Any executor whose program could be hit. */
export function victim(world: World): ExecutorModel | undefined {
  const executor = world.random.any([...world.executors.values()].filter(({ alive }) => alive));
  world.trace(`! it strikes ${executor === undefined ? "nobody" : executor.task}`);
  return executor;
}
