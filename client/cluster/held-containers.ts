import { RemoteError } from "../../src/hadoop/rpc/remote-error.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { mostRows } from "./node-tables.ts";
import { type HeldContainers, holding } from "./nodes-overview.ts";

/** At most so many requests are in flight. */
const atOnce = 8;

/**
 * Which nodes applications have their containers on, with one request per application, for as many as are shown. Applications that
 * the caller may not see, or that have ended meanwhile, are left out.
 */
export async function heldContainers(
  resourceManager: Pick<ResourceManagerClient, "containers">,
  reports: readonly ApplicationReport[],
): Promise<HeldContainers> {
  const held = new Map<string, Awaited<ReturnType<ResourceManagerClient["containers"]>>>();
  const left = holding(reports).slice(0, mostRows);
  const askNext = async (): Promise<void> => {
    const next = left.shift();
    if (next === undefined) return;
    if (next.currentAttemptId !== undefined) {
      try {
        held.set(next.id, await resourceManager.containers(next.currentAttemptId));
      } catch (error) {
        if (!(error instanceof RemoteError)) throw error;
      }
    }
    return askNext();
  };
  await Promise.all(Array.from({ length: atOnce }, askNext));
  return held;
}
