import { createReadStream, createWriteStream, fchmodSync, type Stats } from "node:fs";
import fs from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { errorCode, errorMessage } from "../errors.ts";
import { ownerHome, ownerName as processOwner } from "../process-owner.ts";
import { openContent } from "./content.ts";
import { FileSystemError, type FileSystemErrorCode } from "./errors.ts";
import type { BlockFacts, Content, CreateOptions, FileStatus, FileSystem, OpenOptions } from "./file-system.ts";
import type { FileUrl } from "./file-url.ts";
import { checkPath } from "./paths.ts";

const codes: Readonly<Record<string, FileSystemErrorCode>> = {
  ENOENT: "FILE_NOT_FOUND",
  EEXIST: "FILE_EXISTS",
  ENOTDIR: "NOT_A_DIRECTORY",
  ENOTEMPTY: "DIRECTORY_NOT_EMPTY",
  EACCES: "ACCESS_DENIED",
  EPERM: "ACCESS_DENIED",
  ENOSPC: "NO_SPACE",
  EDQUOT: "QUOTA_EXCEEDED",
  EROFS: "ACCESS_DENIED",
  EISDIR: "INVALID_REQUEST",
  ENAMETOOLONG: "INVALID_REQUEST",
};

/**
 * This machine's files behind the interface of HDFS: the staging area of jobs that run here, and the second implementation under contract
 * test.
 */
export class LocalFileSystem implements FileSystem {
  readonly uri: string = "file://";
  readonly #home: string;

  /** @param home what `homeDirectory` returns; default the OS user's */
  constructor(home: string = ownerHome()) {
    this.#home = home;
  }

  resourceUrl(path: string): FileUrl {
    return { scheme: "file", host: "", port: -1, path };
  }

  async homeDirectory(): Promise<string> {
    return this.#home;
  }

  stat(path: string): Promise<FileStatus> {
    return named("GETFILESTATUS", path, async () => statusOf(path, await fs.stat(path)));
  }

  async blockAt(): Promise<BlockFacts> {
    return { isBeingWritten: false, hosts: [] };
  }

  list(path: string): Promise<FileStatus[]> {
    return named("LISTSTATUS", path, async () => {
      const names = await namesIn(path);
      if (names === undefined) return [statusOf(path, await fs.stat(path))];
      const entries = await Promise.all(names.map((name) => statusIfPresent(join(path, name))));
      return entries.filter((entry) => entry !== undefined);
    });
  }

  checkWritable(path: string): Promise<void> {
    return named("CHECKACCESS", path, () => fs.access(path, fs.constants.W_OK | fs.constants.X_OK));
  }

  mkdirs(path: string, permission: number): Promise<void> {
    return named("MKDIRS", path, async () => {
      const missing: string[] = [];
      let ancestor = path;
      while ((await statusIfPresent(ancestor)) === undefined) {
        missing.unshift(ancestor);
        ancestor = dirname(ancestor);
      }
      if (missing.length === 0 && !(await fs.stat(path)).isDirectory()) {
        throw new FileSystemError(`MKDIRS ${path}: a file of that name is there`, {
          code: "FILE_EXISTS",
          operation: "MKDIRS",
          path,
        });
      }
      for (const directory of missing) {
        await fs.mkdir(directory).catch((error: unknown) => {
          if (errorCode(error) !== "EEXIST") throw error;
        });
        // mkdir's own mode is subject to this process's umask.
        await fs.chmod(directory, permission);
      }
    });
  }

  delete(path: string, options: { readonly recursive?: boolean } = {}): Promise<boolean> {
    return named("DELETE", path, async () => {
      try {
        const directory = (await fs.lstat(path)).isDirectory();
        if (directory && options.recursive) await fs.rm(path, { recursive: true });
        else if (directory) await fs.rmdir(path);
        else await fs.unlink(path);
        return true;
      } catch (error) {
        if (errorCode(error) === "ENOENT") return false;
        throw error;
      }
    });
  }

  rename(from: string, to: string, options: { readonly overwrite?: boolean } = {}): Promise<boolean> {
    return named("RENAME", from, async () => {
      checkPath(to);
      if (options.overwrite) {
        await fs.rename(from, to);
        return true;
      }
      const source = await fs.lstat(from);
      try {
        // A hard link is the only way to give a file a name that never replaces an existing one.
        if (source.isDirectory()) {
          if ((await statusIfPresent(to)) !== undefined) return false;
          await fs.rename(from, to);
        } else {
          await fs.link(from, to);
          await fs.unlink(from);
        }
        return true;
      } catch (error) {
        if (errorCode(error) === "EEXIST") return false;
        throw error;
      }
    });
  }

  setPermission(path: string, permission: number): Promise<void> {
    return named("SETPERMISSION", path, () => fs.chmod(path, permission));
  }

  /** Does nothing: local files have one copy (org.apache.hadoop.fs.FileSystem#setReplication). */
  async setReplication(_path: string, _replicas: number): Promise<void> {}

  setTimes(
    path: string,
    times: { readonly modificationTimeMs?: number; readonly accessTimeMs?: number },
  ): Promise<void> {
    return named("SETTIMES", path, async () => {
      const now = await fs.stat(path);
      await fs.utimes(
        path,
        seconds(times.accessTimeMs ?? now.atimeMs),
        seconds(times.modificationTimeMs ?? now.mtimeMs),
      );
    });
  }

  create(path: string, content: Content, options: CreateOptions): Promise<void> {
    return named("CREATE", path, async () => {
      await fs.mkdir(dirname(path), { recursive: true });
      const flags = options.overwrite ? "w" : "wx";
      await this.#write(path, content, flags, options);
    });
  }

  append(path: string, content: Content, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    return named("APPEND", path, async () => {
      await fs.access(path);
      await this.#write(path, content, "a", options);
    });
  }

  open(path: string, options: OpenOptions = {}): Promise<Readable> {
    return named("OPEN", path, async () => {
      const { offset = 0, lengthBytes, signal } = options;
      const status = await fs.stat(path);
      if (status.isDirectory()) {
        const options = { code: "FILE_NOT_FOUND", operation: "OPEN", path } as const;
        throw new FileSystemError(`OPEN ${path}: it is a directory`, options);
      }
      if (lengthBytes === 0 || offset >= status.size) return Readable.from([]);
      const wantedBytes = Math.min(lengthBytes ?? Number.POSITIVE_INFINITY, status.size - offset);
      if (wantedBytes <= SMALL_BYTES) return Readable.from([await piece(path, offset, wantedBytes)]);
      const source = createReadStream(path, {
        start: offset,
        ...(lengthBytes === undefined ? {} : { end: offset + lengthBytes - 1 }),
        ...(signal === undefined ? {} : { signal }),
      });
      const stream = new PassThrough();
      source.on("error", (error) => stream.destroy(fileSystemError(error, "OPEN", path)));
      stream.on("close", () => source.destroy());
      return source.pipe(stream);
    });
  }

  close(): void {}

  async #write(
    path: string,
    content: Content,
    flags: string,
    options: {
      readonly permission?: number;
      readonly onProgress?: (sentBytes: number) => void;
      readonly signal?: AbortSignal;
    },
  ): Promise<void> {
    const { permission, onProgress, signal } = options;
    let sentBytes = 0;
    const file = createWriteStream(path, { flags, ...(permission === undefined ? {} : { mode: permission }) });
    file.once("open", (descriptor) => {
      // The mode of open() is subject to this process's umask, and an overwritten file would keep its own.
      if (permission !== undefined) fchmodSync(descriptor, permission);
    });
    const source = openContent(content);
    source.on("data", (chunk: Uint8Array) => {
      sentBytes += chunk.byteLength;
      onProgress?.(sentBytes);
    });
    // The file may still be opened, and created, after its source has failed.
    const closed = new Promise<void>((resolve) => file.once("close", resolve));
    await pipeline(source, file, signal === undefined ? {} : { signal }).catch(async (error: unknown) => {
      await closed;
      throw error;
    });
  }
}

/** A piece of up to this size is read at once: a stream costs several times as much. */
const SMALL_BYTES = 65_536;

/** The bytes of the piece that exist. */
async function piece(path: string, offset: number, lengthBytes: number): Promise<Buffer> {
  const file = await fs.open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(lengthBytes), 0, lengthBytes, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Sorted; undefined if the path is not a directory. */
async function namesIn(path: string): Promise<string[] | undefined> {
  try {
    return (await fs.readdir(path)).sort();
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Adds a hundredth of a millisecond, because the nearest double may lie below the time and would be read back as the millisecond before. */
function seconds(timeMs: number): number {
  return (timeMs + 0.01) / 1000;
}

async function statusIfPresent(path: string): Promise<FileStatus | undefined> {
  try {
    return statusOf(path, await fs.stat(path));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function statusOf(path: string, stats: Stats): FileStatus {
  const directory = stats.isDirectory();
  return {
    path,
    type: directory ? "DIRECTORY" : "FILE",
    lengthBytes: directory ? 0 : stats.size,
    modificationTimeMs: Math.floor(stats.mtimeMs),
    accessTimeMs: Math.floor(stats.atimeMs),
    permission: stats.mode & 0o1777,
    owner: ownerName(stats.uid),
    group: String(stats.gid),
  };
}

let ownName: string | undefined;

/** The OS gives numbers. The only name ever compared is that of this process's own user, which is looked up once. */
function ownerName(uid: number): string {
  if (uid !== process.getuid?.()) return String(uid);
  ownName ??= processOwner();
  return ownName;
}

/** Runs an operation; turns its failure into a FileSystemError that names the operation and path. */
async function named<T>(operation: string, path: string, run: () => Promise<T>): Promise<T> {
  try {
    checkPath(path);
    return await run();
  } catch (error) {
    throw fileSystemError(error, operation, path);
  }
}

function fileSystemError(error: unknown, operation: string, path: string): Error {
  if (error instanceof FileSystemError) return error;
  const code = codes[String(errorCode(error))] ?? "REMOTE";
  return new FileSystemError(`${operation} ${path}: ${errorMessage(error)}`, { code, operation, path, cause: error });
}
