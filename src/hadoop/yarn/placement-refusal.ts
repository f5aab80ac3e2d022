import { RemoteError } from "../rpc/remote-error.ts";

/**
 * Whether the ResourceManager refuses constrained requests altogether: it has no handler for them
 * (`yarn.resourcemanager.placement-constraints.handler`, which is off by default: DisabledPlacementProcessor), or a scheduler that cannot
 * place them (SchedulerPlacementProcessor: CapacityScheduler alone can). Both are a YarnException of these words.
 */
export function placementRefusal(error: unknown): error is RemoteError {
  return error instanceof RemoteError && /cannot handle placement constraints/.test(error.javaMessage);
}
