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

/** What an entry is found by. */
export interface CacheKey {
  readonly sha256: string;
  readonly sizeBytes: number;
  /** The last part of its path; its ending tells YARN how to unpack it. */
  readonly name: string;
  /** Anybody on the cluster may read it: the runtime and our own programs. */
  readonly shared: boolean;
}

/** An entry as YARN is told of it. */
export interface CacheEntry {
  readonly path: string;
  readonly url: string;
  readonly sizeBytes: number;
  readonly modificationTimeMs: number;
  readonly visibility: "PUBLIC" | "PRIVATE";
  /** The user has made it, and nobody else but the file system's superuser can change it, or put another in its place. */
  readonly own: boolean;
  /** 0 when it was there already. */
  readonly uploadedBytes: number;
}

export interface CacheOptions {
  readonly fileSystems: Pick<FileSystems, "locate">;
  /** Where staging folders are; the cache is `cache` below it unless `cacheDir` says otherwise. */
  readonly stagingRoot: LocatedPath;
  /**
   * `tony.cache.dir`. The user's own cache stands beside it, for an entry that somebody who is not trusted has made there, and for what nodes
   * do not check by its hash where others, trusted or not, could put something else in its place.
   */
  readonly cacheDir?: string | undefined;
  readonly user: string;
  /** `tony.cache.trusted-owners` */
  readonly trustedOwners?: readonly string[];
  /** Nobody proves who he is on this cluster. */
  readonly believesNames?: boolean;
  /** On how many nodes an entry is kept, as many fetch it at once; default: as the file system does by itself. */
  readonly replicas?: number;
}

export interface PutOptions {
  readonly onProgress?: ((sentBytes: number) => void) | undefined;
  /** Breaks the upload off; what was sent is removed. */
  readonly signal?: AbortSignal | undefined;
  readonly nowMs?: number;
}

/** Nodes read shared entries as their own user; the rest is the submitter's alone. */
const permissions = {
  shared: { folder: 0o755, file: 0o755 },
  private: { folder: 0o700, file: 0o600 },
} as const;

/** An entry's access time is moved when it is older than this, so that `prune` sees that it is in use. */
const touchAfterMs = 3_600_000;

/** Others could have made, or could replace, what the cache has below its own folder, or keep it to themselves. */
class EntryDistrusted extends UserError {}

/**
 * Files that jobs have in common, by the SHA-256 of their content: `<root>/sha256/<hash>/<name>`. An entry is put there whole, by
 * renaming from `<root>/uploads`, and never changes afterwards: a NodeManager compares size and time alone, and a new time would break
 * running jobs.
 */
export class ContentCache {
  readonly root: string;
  readonly fileSystem: FileSystem;
  readonly #user: string;
  readonly #trusted: TrustedOwners;
  readonly #replicas: number | undefined;
  /** The user's own, beside another one. */
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
   * The entry, when it is there.
   * @throws UserError when it is damaged, or the cache's folder or one above it belongs to somebody who is not trusted or could be
   * changed by others
   */
  async get(key: CacheKey, nowMs: number = Date.now()): Promise<CacheEntry | undefined> {
    return await this.#orOwn((cache) => cache.#get(key, nowMs));
  }

  /**
   * The entry, after uploading its content if it is not there.
   * @throws UserError as `get`, and when the cache cannot be written
   */
  async put(key: CacheKey, content: Content, options: PutOptions = {}): Promise<CacheEntry> {
    return await this.#orOwn((cache) => cache.#put(key, content, options));
  }

  /** Whoever makes an entry's folder, or one that all entries are in, before those who need it keeps nobody from having it. */
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

  /**
   * Makes `sha256` and `uploads`. In a folder that many users share (1777) they are as open as it is; else others may only pass through.
   */
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

  /** A temporary name, then a rename that does not replace: whoever is first wins, and the loser's content is the same. */
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
      // A DataNode closes a file whose writer went away, so a short file is not an error of the server's.
      if (lengthBytes !== key.sizeBytes) {
        throw new UserError(`${key.name}: ${lengthBytes} of ${key.sizeBytes} bytes arrived; did it change?`, {
          code: "UPLOAD_INCOMPLETE",
          exitCode: ExitCode.cluster,
        });
      }
      // An entry that others find by this hash must have it.
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

  /** Before an upload: what is there already of the folders that it needs. */
  async #checkPlace(entryFolder: string): Promise<void> {
    const folders = [entryFolder, path.dirname(entryFolder), path.join(this.root, uploadsFolder), "/"];
    this.#check(await this.#thatAreThere(folders));
  }

  /** Before anything is looked up there that nodes do not check. */
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

  /** Whoever may replace a folder can put another file into a job's place after it was submitted: nodes compare size and time alone. */
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

  /** Of the folders above a file, nearest first. Each is asked for once. */
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

  /** Only the owner may; reading by the nodes moves others' entries' times. */
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

/** The same content, and the hash of what was read of it the last time that it was opened. */
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
    // Its failure is the tap's, too, which is what the upload reads.
    return pipeline(openContent(content), tap, () => undefined);
  };
  const lengthBytes = contentLengthBytes(content);
  return {
    content: { open, ...(lengthBytes !== undefined && { lengthBytes }) },
    sha256: () => hash.digest("hex"),
  };
}
