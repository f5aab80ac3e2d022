import { ExitCode, UserError } from "../../src/errors.ts";
import type { FileStatus } from "../../src/hadoop/hdfs/file-system.ts";

/** Whose files a job may run. */
export interface TrustedOwners {
  readonly user: string;
  /** `tony.cache.trusted-owners` */
  readonly trustedOwners: readonly string[];
}

/**
 * Refuses a cache entry that somebody else could have made or could replace, since a NodeManager checks no content: the entry and
 * every folder above it must belong to the user, a trusted owner or the owner of `/` (HDFS's superuser, who can do anything anyway),
 * and no folder may let everybody replace what is in it.
 *
 * @param statuses the entry, then the folders above it up to `/`
 */
export function checkFolders(statuses: readonly FileStatus[], trusted: TrustedOwners, uri: string): void {
  const superuser = statuses.at(-1)?.owner;
  const owners = new Set([trusted.user, ...trusted.trustedOwners, superuser]);
  for (const status of statuses) {
    if (!owners.has(status.owner)) {
      throw new UserError(
        `${uri}${status.path} belongs to ${status.owner}, so what is run from there could be changed by ${status.owner}: ` +
          `name that user in tony.cache.trusted-owners, or set tony.cache.dir to a folder of your own`,
        { code: "CACHE_OWNER_NOT_TRUSTED", exitCode: ExitCode.cluster },
      );
    }
    const replaceable = (status.permission & 0o002) !== 0 && (status.permission & 0o1000) === 0;
    if (replaceable && status.path !== "/") {
      throw new UserError(
        `${uri}${status.path} can be changed by everybody (permissions ${status.permission.toString(8)}): ` +
          "set its sticky bit (hdfs dfs -chmod +t), or set tony.cache.dir to a folder of your own",
        { code: "CACHE_OPEN_TO_ALL", exitCode: ExitCode.cluster },
      );
    }
  }
}

/**
 * Whether nodes may keep one copy for all users: everybody may read the file and pass through each folder above it
 * (org.apache.hadoop.yarn.util.FSDownload.isPublic).
 */
export function isOpenToAll(file: FileStatus, foldersAbove: readonly FileStatus[]): boolean {
  return (file.permission & 0o004) !== 0 && foldersAbove.every((folder) => (folder.permission & 0o001) !== 0);
}
