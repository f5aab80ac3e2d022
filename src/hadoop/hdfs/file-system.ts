import type { Readable } from "node:stream";
import type { FileUrl } from "./file-url.ts";

/** What a file system says about one path (org.apache.hadoop.fs.FileStatus). */
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
  /** How many a folder has, where the server says it. */
  readonly entries?: number;
}

/**
 * What is written: bytes at hand, or a source that opens a new stream of the same bytes each time it is asked, so that a transfer
 * that broke can be repeated from the start.
 */
export type Content = Uint8Array | { readonly lengthBytes?: number; open(): Readable };

/** Nothing is known of blocks on this machine and behind a gateway. */
export interface BlockFacts {
  /** Whether somebody has the file open to write. */
  readonly isBeingWritten: boolean;
  /** Names and addresses of the machines that have it. */
  readonly hosts: readonly string[];
}

/** How a file is written. */
export interface CreateOptions {
  /** Always explicit, because a default would depend on the site's umask: 0o600. */
  readonly permission: number;
  /** Default false: an existing file is refused with FILE_EXISTS. */
  readonly overwrite?: boolean;
  /** Bytes handed to the file system so far; starts again from 0 when a transfer is repeated. */
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
 * The files of a cluster, or of this machine in the same terms. Paths are absolute and decoded (`/user/ada/a b`), without scheme.
 * Every failure is a FileSystemError whose `code` says what to do; every wait is bounded by the implementation's timeouts.
 */
export interface FileSystem {
  /** `hdfs://nameservice`, `file://`: what this file system's paths are printed under. */
  readonly uri: string;

  /** The path as YARN wants it in a LocalResource. */
  resourceUrl(path: string): FileUrl;

  /** The user's home, whether it exists or not. */
  homeDirectory(): Promise<string>;

  /** Writes a whole file. Missing parents are made too, with permissions of the server's choice: make them first where that matters. */
  create(path: string, content: Content, options: CreateOptions): Promise<void>;

  /** Adds to the end of a file that exists; never repeated blindly. */
  append(path: string, content: Content, options?: { readonly signal?: AbortSignal }): Promise<void>;

  /** The file's bytes; none when `offset` is at the end or beyond it. A transfer that ends early fails the stream. */
  open(path: string, options?: OpenOptions): Promise<Readable>;

  /** Of one path. FILE_NOT_FOUND when there is nothing. */
  stat(path: string): Promise<FileStatus>;

  /** The block of a file that begins there, or before. */
  blockAt(path: string, offset?: number): Promise<BlockFacts>;

  /** The entries of a directory, sorted by path; of a file, that file alone. */
  list(path: string): Promise<FileStatus[]>;

  /** Rejects with ACCESS_DENIED unless we may make entries in the directory; FILE_NOT_FOUND when there is none. */
  checkWritable(path: string): Promise<void>;

  /** Makes the directory and its parents with this permission. A directory that exists stays as it is. */
  mkdirs(path: string, permission: number): Promise<void>;

  /** @returns whether there was anything to remove; also true when it is gone but the answer was lost on the way. */
  delete(path: string, options?: { readonly recursive?: boolean }): Promise<boolean>;

  /**
   * Moves a file or directory; `to` is the full new name.
   * @returns false when `to` exists already (and `overwrite` is not set); nothing is changed then.
   */
  rename(from: string, to: string, options?: { readonly overwrite?: boolean }): Promise<boolean>;

  /** @param permission the nine bits and the sticky bit: 0o755 */
  setPermission(path: string, permission: number): Promise<void>;

  /** How many nodes keep a file; resolves before they all do. FILE_NOT_FOUND for what is no file. */
  setReplication(path: string, replicas: number): Promise<void>;

  /** Milliseconds since the epoch; one that is absent stays as it is. */
  setTimes(
    path: string,
    times: { readonly modificationTimeMs?: number; readonly accessTimeMs?: number },
  ): Promise<void>;

  /** Closes idle connections. */
  close(): void;
}
