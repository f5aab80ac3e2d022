import { createHash } from "node:crypto";
import path from "node:path/posix";
import { pipeline, Transform } from "node:stream";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { contentLengthBytes, openContent } from "../../src/hadoop/hdfs/content.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { Content, FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import type { FileSystems, LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import {
  type Distrust,
  distrustError,
  firstDistrusted,
  foldersAbove,
  isOpenToAll,
  type TrustedOwners,
} from "../staging/folder-trust.ts";
import { removeBrokenOff, sweepUploads, uploadName, uploadsFolder } from "./uploads.ts";

/** What identifies an entry. */
export interface CacheKey {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The last part of its path; its extension tells YARN how to unpack it. */
  readonly name: string;
  /** Whether everybody on the cluster may read it: true for the runtime and our own programs. */
  readonly shared: boolean;
}

/** An entry in the terms that YARN needs. */
export interface CacheEntry {
  readonly path: string;
  readonly url: string;
  readonly sizeBytes: number;
  readonly modificationTimeMs: number;
  readonly visibility: "PUBLIC" | "PRIVATE";
  /** The user created it, and only the file system's superuser could also change or replace it. */
  readonly own: boolean;
  /** 0 when it existed already. */
  readonly uploadedBytes: number;
}

export interface CacheOptions {
  readonly fileSystems: Pick<FileSystems, "locate">;
  /** The folder of staging folders; the cache is its subfolder `cache` unless `cacheDir` says otherwise. */
  readonly stagingRoot: LocatedPath;
  /**
   * `tony.cache.dir`. The user's own cache is used in addition: for an entry that an untrusted user created there, and for files that nodes
   * do not verify by hash where others, trusted or not, could replace them.
   */
  readonly cacheDir?: string | undefined;
  readonly user: string;
  /** `tony.cache.trusted-owners` */
  readonly trustedOwners?: readonly string[];
  /** The cluster does not authenticate its users. */
  readonly believesNames?: boolean;
  /** The replication of an entry that many nodes fetch at once; default: the file system's own. */
  readonly replicas?: number;
}

export interface PutOptions {
  readonly onProgress?: ((sentBytes: number) => void) | undefined;
  /** Aborts the upload and removes what was sent. */
  readonly signal?: AbortSignal | undefined;
  readonly nowMs?: number;
}

/** Nodes read shared entries as their own user; all other entries are readable by the submitter alone. */
const permissions = {
  shared: { folder: 0o755, file: 0o755 },
  private: { folder: 0o700, file: 0o600 },
} as const;

/** An older access time is renewed, so that `prune` sees that the entry is in use. */
const touchAfterMs = 3_600_000;

/** Others could have created or could replace what the cache has below its own folder, or deny access to it. */
class EntryDistrusted extends UserError {}

/**
 * Files that jobs share, by the SHA-256 of their content: `<root>/sha256/<hash>/<name>`. An entry appears as a whole, renamed from
 * `<root>/uploads`, and never changes afterwards: a NodeManager compares only size and time, and a new time would break running jobs.
 */
export class ContentCache {
  readonly root: string;
  readonly fileSystem: FileSystem;
  readonly #user: string;
  readonly #trusted: TrustedOwners;
  readonly #replicas: number | undefined;
  /** The user's own cache, next to a shared one. */
  readonly beside: ContentCache | undefined;
  readonly #folders = new Map<string, Promise<FileStatus>>();
  #ready: Promise<void> | undefined;
  #closed: Promise<void> | undefined;

  constructor(options: CacheOptions) {
    const { fileSystems, stagingRoot, cacheDir, user } = options;
    const located =
      cacheDir === undefined
        ? { fileSystem: stagingRoot.fileSystem, path: path.join(stagingRoot.path, "cache") }
        : fileSystems.locate(cacheDir);
    this.fileSystem = located.fileSystem;
    this.root = located.path;
    this.#user = user;
    this.#replicas = options.replicas;
    this.#trusted = {
      user,
      trustedOwners: options.trustedOwners ?? [],
      ...(options.believesNames === true && { believesNames: true }),
    };
    const own = cacheDir === undefined ? undefined : new ContentCache({ ...options, cacheDir: undefined });
    this.beside = own?.root === this.root && own.fileSystem.uri === this.fileSystem.uri ? undefined : own;
  }

  /**
   * The entry, if it exists.
   * @throws UserError when it is damaged, or when the cache's folder or one above it belongs to an untrusted user or could be
   * changed by others
   */
  async get(key: CacheKey, nowMs: number = Date.now()): Promise<CacheEntry | undefined> {
    return await this.#orOwn((cache) => cache.#get(key, nowMs));
  }

  /**
   * The entry, after uploading its content if it does not exist.
   * @throws UserError as `get`, and when the cache cannot be written
   */
  async put(key: CacheKey, content: Content, options: PutOptions = {}): Promise<CacheEntry> {
    return await this.#orOwn((cache) => cache.#put(key, content, options));
  }

  /** Falls back to the user's own cache: nobody may block a submission by creating an entry's folder, or a common one, first. */
  async #orOwn<T>(work: (cache: ContentCache) => Promise<T>): Promise<T> {
    try {
      return await work(this);
    } catch (error) {
      if (this.beside === undefined || !(error instanceof EntryDistrusted)) throw error;
      return await work(this.beside);
    }
  }

  async #get(key: CacheKey, nowMs: number): Promise<CacheEntry | undefined> {
    if (this.beside !== undefined && !key.shared) {
      this.#closed ??= this.#checkClosed();
      await this.#closed;
    }
    const found = await this.#find(this.#file(key));
    if (found === undefined) return undefined;
    const entry = await this.#entry(key, found);
    await this.#touch(found, nowMs);
    return entry;
  }

  async #put(
    key: CacheKey,
    content: Content,
    { onProgress, signal, nowMs = Date.now() }: PutOptions,
  ): Promise<CacheEntry> {
    const found = await this.#get(key, nowMs);
    if (found !== undefined) return found;
    const file = this.#file(key);
    if (this.beside !== undefined) await this.#checkPlace(path.dirname(file));
    this.#ready ??= this.#prepare();
    await this.#ready;
    await this.#upload(file, key, content, { onProgress, signal });
    return { ...(await this.#entry(key, await this.fileSystem.stat(file))), uploadedBytes: key.sizeBytes };
  }

  /** Removes the user's uploads that were broken off. @throws FileSystemError when they cannot be read or removed */
  async sweep(nowMs: number): Promise<void> {
    await sweepUploads(this.fileSystem, this.root, { user: this.#user, nowMs });
    await this.beside?.sweep(nowMs);
  }

  #file(key: CacheKey): string {
    return path.join(this.root, "sha256", key.sha256, key.name);
  }

  async #entry(key: CacheKey, status: FileStatus): Promise<CacheEntry> {
    const above = await this.#statusesAbove(status.path);
    const statuses = [status, ...above];
    this.#check(statuses);
    if (this.beside !== undefined && !key.shared) this.#requireClosed(statuses);
    const own = firstDistrusted(statuses, this.#nobodyElse) === undefined;
    if (status.lengthBytes !== key.sizeBytes) {
      throw new (own ? UserError : EntryDistrusted)(
        `${this.fileSystem.uri}${status.path} has ${status.lengthBytes} bytes instead of ${key.sizeBytes}: remove it and submit again`,
        { code: "CACHE_ENTRY_DAMAGED", exitCode: ExitCode.cluster },
      );
    }
    return {
      path: status.path,
      url: this.fileSystem.uri + status.path,
      sizeBytes: status.lengthBytes,
      modificationTimeMs: status.modificationTimeMs,
      visibility: key.shared && isOpenToAll(status, above) ? "PUBLIC" : "PRIVATE",
      own,
      uploadedBytes: 0,
    };
  }

  /** Creates `sha256` and `uploads`: as open as the cache's folder, where many users share that (1777); otherwise others may only pass through. */
  async #prepare(): Promise<void> {
    try {
      const above = await this.#find(this.root);
      const permission = above !== undefined && (above.permission & 0o002) !== 0 ? above.permission : 0o711;
      for (const folder of ["sha256", uploadsFolder])
        await this.fileSystem.mkdirs(path.join(this.root, folder), permission);
    } catch (error) {
      throw this.#notWritable(error);
    }
  }

  /** Uploads under a temporary name, then renames without replacing: the first one wins, and the loser's content is the same. */
  async #upload(
    file: string,
    key: CacheKey,
    content: Content,
    { onProgress, signal }: Pick<PutOptions, "onProgress" | "signal">,
  ): Promise<void> {
    const permission = key.shared ? permissions.shared : permissions.private;
    const temporary = path.join(this.root, uploadsFolder, uploadName(key.name));
    const sent = hashed(content);
    try {
      await this.fileSystem.mkdirs(path.dirname(file), permission.folder);
      await this.fileSystem.create(temporary, sent.content, {
        permission: permission.file,
        overwrite: true,
        ...(onProgress === undefined ? {} : { onProgress }),
        ...(signal === undefined ? {} : { signal }),
      });
      const { lengthBytes } = await this.fileSystem.stat(temporary);
      // A DataNode closes a file whose writer disconnected, so a short file is not an error of the server's.
      if (lengthBytes !== key.sizeBytes) {
        throw new UserError(`${key.name}: ${lengthBytes} of ${key.sizeBytes} bytes arrived; did it change?`, {
          code: "UPLOAD_INCOMPLETE",
          exitCode: ExitCode.cluster,
        });
      }
      // An entry has to have the hash that others find it by.
      if (sent.sha256() !== key.sha256) throw uploadChanged(key);
      if (this.#replicas !== undefined) await this.fileSystem.setReplication(temporary, this.#replicas);
      if (!(await this.fileSystem.rename(temporary, file))) await this.fileSystem.delete(temporary);
    } catch (error) {
      if (signal?.aborted) await removeBrokenOff(this.fileSystem, temporary);
      else await this.fileSystem.delete(temporary).catch(() => false);
      throw hasCode(error, "FILE_CHANGED") ? uploadChanged(key, error) : this.#notWritable(error);
    }
  }

  #notWritable(error: unknown): unknown {
    if (!hasCode(error, "ACCESS_DENIED", "NOT_A_DIRECTORY", "FILE_EXISTS")) return error;
    return new UserError(
      `${errorMessage(error)}\nThe cache ${this.fileSystem.uri}${this.root} cannot be written: set tony.cache.dir to a folder that you may write to`,
      { code: "CACHE_NOT_WRITABLE", exitCode: ExitCode.cluster, cause: error },
    );
  }

  /** Checks, before an upload, the existing ones of the folders that it needs. */
  async #checkPlace(entryFolder: string): Promise<void> {
    const folders = [entryFolder, path.dirname(entryFolder), path.join(this.root, uploadsFolder), "/"];
    this.#check(await this.#thatAreThere(folders));
  }

  /** Checks the folders before a lookup of files that nodes do not verify. */
  async #checkClosed(): Promise<void> {
    const file = path.join(this.root, "sha256", "any");
    this.#requireClosed(await this.#thatAreThere([path.join(this.root, uploadsFolder), ...foldersAbove(file)]));
  }

  async #thatAreThere(folders: readonly string[]): Promise<FileStatus[]> {
    const statuses = await Promise.all(folders.map((folder) => this.#find(folder)));
    return statuses.filter((status) => status !== undefined);
  }

  #check(statuses: readonly FileStatus[]): void {
    const found = firstDistrusted(statuses, this.#trusted);
    if (found === undefined) return;
    const error = this.#distrustError(found);
    throw found.status.path.startsWith(`${this.root}/`) ? new EntryDistrusted(error.message, error) : error;
  }

  /** Anybody who may replace a folder can replace a job's file after the submission: nodes compare only size and time. */
  #requireClosed(statuses: readonly FileStatus[]): void {
    const found = firstDistrusted(statuses, this.#nobodyElse);
    if (found === undefined) return;
    const error = this.#distrustError(found);
    throw new EntryDistrusted(error.message, error);
  }

  get #nobodyElse(): TrustedOwners {
    return { ...this.#trusted, trustedOwners: [] };
  }

  #distrustError(found: Distrust): UserError {
    return distrustError(found, {
      code: "CACHE",
      key: "tony.cache.dir",
      uri: this.fileSystem.uri,
      user: this.#trusted.user,
    });
  }

  /** The folders above a file, nearest first. Each is asked for once. */
  #statusesAbove(file: string): Promise<FileStatus[]> {
    return Promise.all(
      foldersAbove(file).map((folder) => {
        const status = this.#folders.get(folder) ?? this.fileSystem.stat(folder);
        this.#folders.set(folder, status);
        return status;
      }),
    );
  }

  async #find(file: string): Promise<FileStatus | undefined> {
    try {
      return await ifThere(this.fileSystem.stat(file));
    } catch (error) {
      if (!hasCode(error, "ACCESS_DENIED") || !file.startsWith(`${this.root}/`)) throw error;
      const options = { code: "CACHE_ENTRY_UNREADABLE", exitCode: ExitCode.cluster, cause: error };
      throw new EntryDistrusted(errorMessage(error), options);
    }
  }

  /** Only the owner may do that; others' entries get new times when nodes read them. */
  async #touch(status: FileStatus, nowMs: number): Promise<void> {
    if (status.owner !== this.#user || nowMs - status.accessTimeMs < touchAfterMs) return;
    await this.fileSystem.setTimes(status.path, { accessTimeMs: nowMs });
  }
}

function uploadChanged({ name }: CacheKey, cause?: unknown): UserError {
  return new UserError(`${name} changed while it was uploaded: submit again when nothing writes to it`, {
    code: "UPLOAD_CHANGED",
    ...(cause !== undefined && { cause }),
  });
}

/** The same content, and the hash of the bytes read since it was last opened. */
function hashed(content: Content): { readonly content: Content; readonly sha256: () => string } {
  let hash = createHash("sha256");
  const open = () => {
    const current = createHash("sha256");
    hash = current;
    const tap = new Transform({
      transform(chunk: Uint8Array, _encoding, done) {
        current.update(chunk);
        done(null, chunk);
      },
    });
    // The tap fails with it, and the upload reads the tap.
    return pipeline(openContent(content), tap, () => undefined);
  };
  const lengthBytes = contentLengthBytes(content);
  return {
    content: { open, ...(lengthBytes !== undefined && { lengthBytes }) },
    sha256: () => hash.digest("hex"),
  };
}
