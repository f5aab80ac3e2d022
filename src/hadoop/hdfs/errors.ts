import { type CodedErrorOptions, errorCode, HadoopError } from "../errors.ts";

/** What went wrong, independent of which file system said it. */
export type FileSystemErrorCode =
  | "FILE_NOT_FOUND"
  | "FILE_EXISTS"
  | "NOT_A_DIRECTORY"
  | "DIRECTORY_NOT_EMPTY"
  | "ACCESS_DENIED"
  | "AUTHENTICATION_FAILED"
  /** The NameNode is starting or was put there by an operator: reads work, writes do not. */
  | "SAFE_MODE"
  | "QUOTA_EXCEEDED"
  /** No DataNode takes the data: full, excluded or none alive. */
  | "NO_SPACE"
  | "STANDBY"
  /** The server is still starting. */
  | "NOT_READY"
  /** Another writer holds the file's lease, or a writer that died did not give it back yet. */
  | "LEASE_HELD"
  | "INVALID_REQUEST"
  /** What is to be stored has another length than it had when its upload began. */
  | "FILE_CHANGED"
  /** Nobody answered under any of the addresses. */
  | "UNREACHABLE"
  /** A server shows a certificate that is not trusted here. */
  | "UNTRUSTED"
  /** The NameNode answered, but the DataNode it named cannot be reached from here. */
  | "DATANODE_UNREACHABLE"
  /** A web server that offers no WebHDFS. */
  | "NO_WEBHDFS"
  | "TIMEOUT"
  /** The connection ended in the middle of a request or reply. */
  | "CONNECTION_LOST"
  /** An answer was lost and looking did not tell whether the operation took place. */
  | "OUTCOME_UNKNOWN"
  /** The answer is not what the protocol promises. */
  | "PROTOCOL"
  /** An exception of the server's that has no code of its own here; see `javaClass`. */
  | "REMOTE";

export interface FileSystemErrorOptions extends CodedErrorOptions {
  readonly code: FileSystemErrorCode;
  readonly operation?: string | undefined;
  readonly path?: string | undefined;
  readonly javaClass?: string | undefined;
}

/** A failed operation on a FileSystem. The message ends with how to mend it where that is known. */
export class FileSystemError extends HadoopError {
  override readonly name = "FileSystemError";
  declare readonly code: FileSystemErrorCode;
  /** WebHDFS's or our own name of the operation: CREATE, OPEN. */
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

/** Whether anything thrown carries this code. */
export function hasCode(error: unknown, ...codes: readonly FileSystemErrorCode[]): boolean {
  return codes.some((code) => code === errorCode(error));
}
