import { isRemoteError, RemoteError } from "../rpc/remote-error.ts";
import type { Resource } from "./records.ts";

/** The largest container that a ResourceManager allocates, as far as its refusal of a larger one tells. */
export interface ResourceRefusal {
  /** The limit with the nodes that are registered now. */
  readonly allowed?: Resource;
  /** The limit whatever nodes register (`yarn.scheduler.maximum-allocation-*`, or the queue's own). Reported since Hadoop 3.0. */
  readonly configured?: Resource;
}

/**
 * The limits in an error that refuses a container's size; undefined for any other error. The ResourceManager computes what it allows from
 * its settings and from the nodes that are registered at that moment
 * (org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerUtils#throwInvalidResourceException,
 * ClusterNodeTracker#getMaxAllowedAllocation).
 */
export function resourceRefusal(error: unknown): ResourceRefusal | undefined {
  if (!isRemoteError(error, "INVALID_RESOURCE_REQUEST")) return undefined;
  const allowed = resourceAfter("maximum allowed allocation", error.javaMessage);
  const configured = resourceAfter("configured maximum allocation", error.javaMessage);
  return { ...(allowed === undefined ? {} : { allowed }), ...(configured === undefined ? {} : { configured }) };
}

/** `<memory:2048, vCores:1, yarn.io/gpu: 4>` (org.apache.hadoop.yarn.api.records.Resource#toString); an amount in other units is not parsed. */
function resourceAfter(words: string, message: string): Resource | undefined {
  const at = message.indexOf(`${words}=<`);
  if (at < 0) return undefined;
  const text = message.slice(at + words.length + 2, message.indexOf(">", at));
  const amounts = text.split(",").flatMap((entry): [string, number][] => {
    const [name = "", amount = ""] = entry.split(":").map((part) => part.trim());
    return /^\d{1,19}$/.test(amount) ? [[name, Number(amount)]] : [];
  });
  const { memory, vCores, ...others } = Object.fromEntries(amounts);
  return memory === undefined || vCores === undefined ? undefined : { memoryMiB: memory, vcores: vCores, others };
}

/**
 * Whether the ResourceManager refuses all constrained requests: it has no handler for them
 * (`yarn.resourcemanager.placement-constraints.handler`, which is off by default: DisabledPlacementProcessor), or a scheduler that cannot
 * place them (SchedulerPlacementProcessor: only CapacityScheduler can). Both are a YarnException with this wording.
 */
export function placementRefusal(error: unknown): error is RemoteError {
  return error instanceof RemoteError && /cannot handle placement constraints/.test(error.javaMessage);
}
