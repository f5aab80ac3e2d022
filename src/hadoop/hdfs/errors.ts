import { type CodedErrorOptions, errorCode, HadoopError } from "../errors.ts";

/** What went wrong, whichever file system reported it. */
export type FileSystemErrorCode =
  | "FILE_NOT_FOUND"
  | "FILE_EXISTS"
  | "NOT_A_DIRECTORY"
  | "DIRECTORY_NOT_EMPTY"
  | "ACCESS_DENIED"
  | "AUTHENTICATION_FAILED"
  /** The NameNode is starting, or an operator put it into safe mode: reads work, writes do not. */
  | "SAFE_MODE"
  | "QUOTA_EXCEEDED"
  /** No DataNode accepts the data: each is full, excluded or dead. */
  | "NO_SPACE"
  | "STANDBY"
  /** The server is still starting. */
  | "NOT_READY"
  /** Another writer holds the file's lease, or a writer died and its lease has not been released yet. */
  | "LEASE_HELD"
  | "INVALID_REQUEST"
  /** The source of an upload has another length than it had when the upload began. */
  | "FILE_CHANGED"
  /** No server answered at any of the addresses. */
  | "UNREACHABLE"
  /** A server's certificate is not trusted here. */
  | "UNTRUSTED"
  /** The NameNode answered, but the DataNode it named cannot be reached from here. */
  | "DATANODE_UNREACHABLE"
  /** A web server that offers no WebHDFS. */
  | "NO_WEBHDFS"
  | "TIMEOUT"
  /** The connection ended in the middle of a request or reply. */
  | "CONNECTION_LOST"
  /** An answer was lost, and checking did not show whether the operation took place. */
  | "OUTCOME_UNKNOWN"
  /** The answer violates the protocol. */
  | "PROTOCOL"
  /** An exception of the server that has no code of its own here; see `javaClass`. */
  | "REMOTE";

export interface FileSystemErrorOptions extends CodedErrorOptions {
  readonly code: FileSystemErrorCode;
  readonly operation?: string | undefined;
  readonly path?: string | undefined;
  readonly javaClass?: string | undefined;
}

/** A failed operation on a FileSystem. The message ends with a remedy where one is known. */
export class FileSystemError extends HadoopError {
  override readonly name = "FileSystemError";
  declare readonly code: FileSystemErrorCode;
  /** The operation's name, WebHDFS's or our own: CREATE, OPEN. */
  readonly operation: string | undefined;
  readonly path: string | undefined;
  /** The remote exception's class, when the server sent one. */
  readonly javaClass: string | undefined;

  constructor(message: string, options: FileSystemErrorOptions) {
    super(message, options);
    this.operation = options.operation;
    this.path = options.path;
    this.javaClass = options.javaClass;
  }
}

/** Whether a thrown value carries one of these codes. */
export function hasCode(error: unknown, ...codes: readonly FileSystemErrorCode[]): boolean {
  return codes.some((code) => code === errorCode(error));
}
