import type { Readable } from "node:stream";
import type { FileUrl } from "./file-url.ts";

/** A path's status (org.apache.hadoop.fs.FileStatus). */
export interface FileStatus {
  /** Absolute, without scheme and host. */
  readonly path: string;
  readonly type: "FILE" | "DIRECTORY" | "SYMLINK";
  /** 0 for a directory. */
  readonly lengthBytes: number;
  /** Milliseconds since the epoch; a NodeManager compares this with a LocalResource's to the millisecond. */
  readonly modificationTimeMs: number;
  readonly accessTimeMs: number;
  /** The nine permission bits and the sticky bit, as a number: 0o755. */
  readonly permission: number;
  readonly owner: string;
  readonly group: string;
  /** The number of a directory's entries, where the server reports it. */
  readonly entries?: number;
}

/**
 * What is written: bytes in memory, or a source that opens a new stream of the same bytes on each call, so that a broken transfer can be
 * repeated from the start.
 */
export type Content = Uint8Array | { readonly lengthBytes?: number; open(): Readable };

/** Facts about a block; unknown for local files and behind a gateway. */
export interface BlockFacts {
  /** Whether the file is open for writing. */
  readonly isBeingWritten: boolean;
  /** Names and addresses of the machines that store the block. */
  readonly hosts: readonly string[];
}

/** How a file is written. */
export interface CreateOptions {
  /** Always explicit, because a default would depend on the site's umask: 0o600. */
  readonly permission: number;
  /** Default false: an existing file is refused with FILE_EXISTS. */
  readonly overwrite?: boolean;
  /** Bytes handed to the file system so far; restarts from 0 when a transfer is repeated. */
  readonly onProgress?: (sentBytes: number) => void;
  readonly signal?: AbortSignal;
}

/** Which part of a file is read. */
export interface OpenOptions {
  /** First byte wanted; default 0. */
  readonly offset?: number;
  /** How many bytes at most; default all. */
  readonly lengthBytes?: number;
  readonly signal?: AbortSignal;
}

/**
 * The files of a cluster, or of this machine through the same interface. Paths are absolute and decoded (`/user/ada/a b`), without scheme.
 * Every failure is a FileSystemError whose `code` tells the caller what to do; the implementation's timeouts bound every wait.
 */
export interface FileSystem {
  /** `hdfs://nameservice`, `file://`: the prefix under which this file system's paths are printed. */
  readonly uri: string;

  /** The path as YARN expects it in a LocalResource. */
  resourceUrl(path: string): FileUrl;

  /** The user's home directory, whether or not it exists. */
  homeDirectory(): Promise<string>;

  /** Writes a whole file. Missing parents are created with permissions of the server's choice: create them first where that matters. */
  create(path: string, content: Content, options: CreateOptions): Promise<void>;

  /** Appends to an existing file; never repeated blindly. */
  append(path: string, content: Content, options?: { readonly signal?: AbortSignal }): Promise<void>;

  /** The file's bytes; none when `offset` is at or beyond the end. A transfer that ends early fails the stream. */
  open(path: string, options?: OpenOptions): Promise<Readable>;

  /** The status of one path. FILE_NOT_FOUND when nothing exists there. */
  stat(path: string): Promise<FileStatus>;

  /** The block of a file that contains the offset. */
  blockAt(path: string, offset?: number): Promise<BlockFacts>;

  /** The entries of a directory, sorted by path; for a file, that file alone. */
  list(path: string): Promise<FileStatus[]>;

  /** Rejects with ACCESS_DENIED unless we may create entries in the directory; FILE_NOT_FOUND when there is none. */
  checkWritable(path: string): Promise<void>;

  /** Creates the directory and its parents with this permission. An existing directory stays as it is. */
  mkdirs(path: string, permission: number): Promise<void>;

  /** @returns whether there was anything to remove; also true if a retry found it gone after an answer was lost. */
  delete(path: string, options?: { readonly recursive?: boolean }): Promise<boolean>;

  /**
   * Moves a file or directory; `to` is the full new name.
   * @returns false when `to` exists already (and `overwrite` is not set); nothing is changed then.
   */
  rename(from: string, to: string, options?: { readonly overwrite?: boolean }): Promise<boolean>;

  /** @param permission the nine bits and the sticky bit: 0o755 */
  setPermission(path: string, permission: number): Promise<void>;

  /** Sets how many nodes store the file; resolves before they all do. FILE_NOT_FOUND for a path that is not a file. */
  setReplication(path: string, replicas: number): Promise<void>;

  /** Milliseconds since the epoch; an absent time stays as it is. */
  setTimes(
    path: string,
    times: { readonly modificationTimeMs?: number; readonly accessTimeMs?: number },
  ): Promise<void>;

  /** Closes idle connections. */
  close(): void;
}
