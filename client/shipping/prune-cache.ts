import { ExitCode, UserError } from "../../src/errors.ts";
import type { CacheAccess } from "./cache-access.ts";
import { type CachedFile, cachesOf, listCache, liveReferences, prunable, removeFromCache } from "./cache-prune.ts";

/**
 * Removes from the cache what no live application of the user needs and nobody has used for a while.
 * @throws UserError (`CACHE_IN_DOUBT`) when a live application's files are unknown: then nothing is removed
 */
export async function pruneCache(
  { cluster, root, cache }: CacheAccess,
  options: { readonly unusedForMs: number; readonly dryRun: boolean; readonly nowMs: number },
): Promise<{ readonly removed: readonly CachedFile[]; readonly freedBytes: number }> {
  const { unusedForMs, dryRun, nowMs } = options;
  const { user } = cluster;
  const live = await cluster.resourceManager.reports({
    users: [user],
    states: ["NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING"],
    types: ["TONY"],
  });
  const { paths, unreadable } = await liveReferences(
    root,
    live.map(({ id }) => id),
  );
  const [doubt] = unreadable;
  if (doubt !== undefined) {
    throw new UserError(
      `Nothing is removed: what ${doubt.applicationId} uses is not known (${doubt.reason}). Wait for its end, or name its tony.staging-dir by --conf`,
      { code: "CACHE_IN_DOUBT", exitCode: ExitCode.cluster },
    );
  }
  const removed: CachedFile[] = [];
  let freedBytes = 0;
  for (const one of cachesOf(cache)) {
    const files = prunable(await listCache(one, user), { user, live: paths, unusedForMs, nowMs });
    const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    freedBytes += dryRun ? bytes : await removeFromCache(one, files);
    removed.push(...files);
  }
  return { removed, freedBytes };
}
