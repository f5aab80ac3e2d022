import type { ExitCode } from "../../src/errors.ts";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { Cluster } from "../cluster/cluster.ts";
import { readSiteSettings, type SiteSettings } from "../cluster/site-settings.ts";
import type { ClientContext } from "../context.ts";
import { stagingRoot } from "../staging/staging-folder.ts";
import { type CacheOptions, ContentCache } from "./cache.ts";

/** A user's cache on a cluster. */
export interface CacheAccess {
  readonly cluster: Cluster;
  readonly root: LocatedPath;
  readonly cache: ContentCache;
}

/** Opens the cache that the settings name, and closes the cluster afterwards. */
export async function withCache(
  conf: readonly string[] | undefined,
  context: ClientContext,
  work: (access: CacheAccess) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { stagingDir, cacheDir, ...options } = readSiteSettings(conf ?? [], context);
  const cluster = await Cluster.open(context, options);
  try {
    return await cluster.use(async () => {
      const root = await stagingRoot(cluster.fileSystems, { stagingDir });
      const { fileSystems, user } = cluster;
      return await work({
        cluster,
        root,
        cache: new ContentCache({ fileSystems, stagingRoot: root, cacheDir, user }),
      });
    });
  } finally {
    cluster.close();
  }
}

/** The cache that a job's files go to, as its settings say. */
export function cacheOfJobs(
  {
    fileSystems,
    user,
    isSecured,
    sharedReplicas,
  }: Pick<Cluster, "fileSystems" | "user" | "isSecured" | "sharedReplicas">,
  stagingRoot: LocatedPath,
  { cacheDir, trustedOwners }: Pick<SiteSettings, "cacheDir" | "trustedOwners">,
): CacheOptions {
  return {
    ...{ fileSystems, stagingRoot, cacheDir, user, trustedOwners },
    believesNames: !isSecured,
    replicas: sharedReplicas,
  };
}
