import path from "node:path/posix";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileStatus } from "../../src/hadoop/hdfs/file-system.ts";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { listIfThere } from "../../src/hadoop/hdfs/if-there.ts";
import { isObject } from "../../src/hadoop/json.ts";
import { jobFileName } from "../../src/job/stored/stored-job.ts";
import { StagingFolder } from "../staging/staging-folder.ts";
import type { ContentCache } from "./cache.ts";
import { listOrNothing, parseUploadName, uploadsFolder } from "./uploads.ts";

/** A cache may have 100,000 entries; listing them one by one takes minutes. */
const LISTED_AT_ONCE = 16;

/** One file of the cache. */
export interface CachedFile {
  readonly path: string;
  /** Empty for an upload. */
  readonly sha256: string;
  readonly name: string;
  readonly owner: string;
  readonly sizeBytes: number;
  /** When it was uploaded, used by a submission, or read by a node, as far as HDFS records that (to the hour). */
  readonly lastUseMs: number;
  /** Whether it is an upload that is under way or was broken off. */
  readonly partial: boolean;
}

/** A cache, and the user's own cache next to it. */
export function cachesOf(cache: ContentCache): ContentCache[] {
  return cache.beside === undefined ? [cache] : [cache, cache.beside];
}

/**
 * Everything in a cache, the least recently used first.
 * @param owner lists this user's files alone, without looking into what others made
 * @throws FileSystemError ACCESS_DENIED where it is another user's and closed
 */
export async function listCache(cache: ContentCache, owner?: string): Promise<CachedFile[]> {
  const folders = await listIfThere(cache.fileSystem, path.join(cache.root, "sha256"));
  const files: CachedFile[] = [];
  const wanted = folders.filter(
    (folder) => folder.type === "DIRECTORY" && (owner === undefined || folder.owner === owner),
  );
  for (let first = 0; first < wanted.length; first += LISTED_AT_ONCE) {
    const some = wanted.slice(first, first + LISTED_AT_ONCE);
    files.push(...(await Promise.all(some.map((folder) => entriesOf(cache, folder)))).flat());
  }
  for (const file of await listOrNothing(cache.fileSystem, path.join(cache.root, uploadsFolder))) {
    const name = path.basename(file.path);
    files.push({ ...cachedFile(file), sha256: "", name: parseUploadName(name)?.name ?? name, partial: true });
  }
  return files.sort((left, right) => left.lastUseMs - right.lastUseMs);
}

/** Another user's private entry cannot be read; nor is it ours to remove. */
async function entriesOf(cache: ContentCache, folder: FileStatus): Promise<readonly CachedFile[]> {
  const sha256 = path.basename(folder.path);
  const found = await listOrNothing(cache.fileSystem, folder.path);
  return found.map((file) => ({ ...cachedFile(file), sha256, name: path.basename(file.path), partial: false }));
}

function cachedFile(file: FileStatus): Pick<CachedFile, "path" | "owner" | "sizeBytes" | "lastUseMs"> {
  return {
    path: file.path,
    owner: file.owner,
    sizeBytes: file.lengthBytes,
    lastUseMs: Math.max(file.modificationTimeMs, file.accessTimeMs),
  };
}

/** The files that live applications were submitted with. */
export interface LiveReferences {
  /** Paths without scheme and authority. */
  readonly paths: ReadonlySet<string>;
  /** Applications whose job.json could not be read, with the reason: which files they use is unknown. */
  readonly unreadable: readonly { readonly applicationId: string; readonly reason: string }[];
}

/**
 * Reads which files applications use from the job.json in their staging folders: every string in it that is a URL with a
 * path.
 * @param applicationIds the user's applications that have not ended
 */
export async function liveReferences(root: LocatedPath, applicationIds: readonly string[]): Promise<LiveReferences> {
  const paths = new Set<string>();
  const unreadable: { applicationId: string; reason: string }[] = [];
  for (const applicationId of applicationIds) {
    try {
      const document: unknown = JSON.parse(
        (await StagingFolder.of(root, applicationId).read(jobFileName)).toString("utf8"),
      );
      collectPaths(document, paths);
    } catch (error) {
      unreadable.push({ applicationId, reason: errorMessage(error) });
    }
  }
  return { paths, unreadable };
}

function collectPaths(value: unknown, paths: Set<string>): void {
  if (typeof value === "string") {
    const found = /^[a-z][a-z0-9+.-]*:\/\/[^/]*(\/.*)$/i.exec(value)?.[1];
    if (found !== undefined) paths.add(found);
  } else if (Array.isArray(value)) {
    for (const item of value) collectPaths(item, paths);
  } else if (isObject(value)) {
    for (const item of Object.values(value)) collectPaths(item, paths);
  }
}

/** A submission looks an entry up before the ResourceManager knows the application: entries that were used this recently stay. */
const minimumAgeMs = 2 * 3_600_000;

/** What `prune` would remove: the user's own files that no live application uses and nobody has used for a while. */
export function prunable(
  files: readonly CachedFile[],
  options: {
    readonly user: string;
    readonly live: ReadonlySet<string>;
    readonly unusedForMs: number;
    readonly nowMs: number;
  },
): CachedFile[] {
  const unusedForMs = Math.max(options.unusedForMs, minimumAgeMs);
  return files.filter(
    (file) =>
      file.owner === options.user && !options.live.has(file.path) && options.nowMs - file.lastUseMs > unusedForMs,
  );
}

/** Removes files of the cache, and folders that are empty afterwards. @returns the number of bytes freed */
export async function removeFromCache(cache: ContentCache, files: readonly CachedFile[]): Promise<number> {
  let freedBytes = 0;
  for (const file of files) {
    if (await cache.fileSystem.delete(file.path)) freedBytes += file.sizeBytes;
  }
  const entries = files.filter(({ partial }) => !partial);
  for (const folder of new Set(entries.map((file) => path.dirname(file.path)))) {
    // Another name of the same content may still exist.
    await cache.fileSystem.delete(folder).catch((error: unknown) => {
      if (!hasCode(error, "DIRECTORY_NOT_EMPTY", "ACCESS_DENIED")) throw error;
    });
  }
  return freedBytes;
}
