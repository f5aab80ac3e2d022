import path from "node:path/posix";
import { ExitCode, UserError } from "../../src/errors.ts";
import type { FileStatus } from "../../src/hadoop/hdfs/file-system.ts";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";

/** The users whose files a job may run. */
export interface TrustedOwners {
  readonly user: string;
  /** `tony.cache.trusted-owners` */
  readonly trustedOwners: readonly string[];
  /** The cluster does not authenticate its users: anybody who could write to a folder could also call himself its owner. */
  readonly believesNames?: boolean;
}

/** Something that others could change, and how to fix that. */
export interface Distrust {
  readonly status: FileStatus;
  readonly code: "OWNER_NOT_TRUSTED" | "OPEN_TO_OTHERS";
  /** The reason, without the path. */
  readonly why: string;
  readonly remedy: string;
}

const groupOrAll = 0o022;
const sticky = 0o1000;

/**
 * The first one, of a file and the folders above it, that somebody else made or could replace. Each must belong to the user, a trusted owner or the
 * owner of `/` (HDFS's superuser, who can do anything anyway); neither its group nor others may write to it, except to a folder with the sticky bit.
 * Write access is not checked where the cluster does not authenticate its users. With an access control list, the group bits are its mask, the most
 * that the list can grant, and count as such.
 *
 * @param statuses up to `/`, which comes last
 */
export function firstDistrusted(
  statuses: readonly FileStatus[],
  { user, trustedOwners, believesNames = false }: TrustedOwners,
): Distrust | undefined {
  const owners = new Set([user, ...trustedOwners, statuses.at(-1)?.owner]);
  for (const status of statuses) {
    const { owner, permission, type } = status;
    if (!owners.has(owner)) {
      const why = `belongs to ${owner}, so what is run from there could be changed by ${owner}`;
      return { status, code: "OWNER_NOT_TRUSTED", why, remedy: "name that user in tony.cache.trusted-owners" };
    }
    const isSticky = type === "DIRECTORY" && (permission & sticky) !== 0;
    if (!believesNames && (permission & groupOrAll) !== 0 && !isSticky)
      return { status, code: "OPEN_TO_OTHERS", ...openness(status) };
  }
  return undefined;
}

function openness({ permission, group, type }: FileStatus): Pick<Distrust, "why" | "remedy"> {
  const [who, bits] = (permission & 0o002) === 0 ? [`group ${group}`, "g-w"] : ["everybody", "go-w"];
  const why = `can be changed by ${who} (permissions ${permission.toString(8)})`;
  const orSticky = type === "DIRECTORY" ? ", or +t, with which each can remove what is his own" : "";
  return { why, remedy: `take the right away (hdfs dfs -chmod ${bits}${orSticky})` };
}

/** @param what is kept there; begins the error's code and names the key for another folder */
export function distrustError(
  { status, code, why, remedy }: Distrust,
  what: { readonly code: "CACHE" | "STAGING"; readonly key: string; readonly uri: string; readonly user: string },
): UserError {
  return new UserError(
    `${what.uri}${status.path} ${why}: ${remedy}, or set ${what.key} to a folder of yours that only you can change, for example /tmp/${what.user}`,
    { code: `${what.code}_${code}`, exitCode: ExitCode.cluster },
  );
}

/**
 * Refuses a staging root that others could replace by their own, or that is below such a folder.
 * @returns a warning where the cluster does not authenticate its users, and others could write there
 * @throws UserError `STAGING_OWNER_NOT_TRUSTED`, `STAGING_OPEN_TO_OTHERS`
 */
export async function requireTrustedFolders(root: LocatedPath, trusted: TrustedOwners): Promise<string | undefined> {
  const { fileSystem, path: folder } = root;
  const statuses = await Promise.all([folder, ...foldersAbove(folder)].map((each) => fileSystem.stat(each)));
  const place = { code: "STAGING", key: "tony.staging-dir", uri: fileSystem.uri, user: trusted.user } as const;
  const found = firstDistrusted(statuses, trusted);
  if (found !== undefined) throw distrustError(found, place);
  const open = firstDistrusted(statuses, { ...trusted, believesNames: false });
  return open && distrustError(open, place).message;
}

/** From the nearest up to `/`. */
export function foldersAbove(file: string): string[] {
  const folder = path.dirname(file);
  return folder === file ? [] : [folder, ...foldersAbove(folder)];
}

/**
 * Whether nodes may keep one copy for all users: everybody may read the file and pass through each folder above it
 * (org.apache.hadoop.yarn.util.FSDownload.isPublic).
 */
export function isOpenToAll(file: FileStatus, above: readonly FileStatus[]): boolean {
  return (file.permission & 0o004) !== 0 && above.every((folder) => (folder.permission & 0o001) !== 0);
}
