import type { FailureClass } from "../../../src/job/status.ts";
import type { ExecutorModel } from "../executor-model.ts";
import type { World } from "../world.ts";

/** Something that goes wrong once. `class` is the budget that it may use up; absent: none. */
export interface Fault {
  readonly name: string;
  readonly class?: FailureClass;
  /** Whether it may rightly end the job. */
  readonly ends?: true;
  /** An executor stands still, and cannot come back in time when its stream breaks meanwhile. */
  readonly freezes?: true;
  /** The ApplicationMaster and an executor hear each other late. */
  readonly deafens?: true;
  /**
   * Programs lose their connections to others that live on: nothing tells such a failure from one of the program's own.
   */
  readonly severs?: true;
  /** It strikes containers of every job on a node. */
  readonly concernsNodes?: true;
  /** HDFS cannot be reached. */
  readonly closesStaging?: true;
  /** The ApplicationMaster answers nobody for a while. */
  readonly halts?: true;
  /** Another attempt of the ApplicationMaster follows. */
  readonly recovers?: true;
  readonly strike: (world: World) => void;
}

/** An executor that the fault strikes, chosen among those alive. */
export function victim(world: World): ExecutorModel | undefined {
  const executor = world.random.any([...world.executors.values()].filter(({ alive }) => alive));
  world.trace(`! it strikes ${executor === undefined ? "nobody" : executor.task}`);
  return executor;
}
