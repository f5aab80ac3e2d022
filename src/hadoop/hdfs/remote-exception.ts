import { entryOf, isObject } from "../json.ts";
import { FileSystemError, type FileSystemErrorCode } from "./errors.ts";

/** What WebHDFS puts in the body of a refusal (org.apache.hadoop.hdfs.web.JsonUtil.toJsonString(Exception)). */
export interface RemoteException {
  /** The simple class name. */
  readonly exception: string;
  readonly javaClassName: string;
  readonly message: string;
}

/** The refusal in a JSON document, or undefined when there is none. */
export function remoteExceptionIn(document: unknown): RemoteException | undefined {
  if (!isObject(document) || !isObject(document.RemoteException)) return undefined;
  const { exception, javaClassName, message } = document.RemoteException;
  if (typeof exception !== "string") return undefined;
  return {
    exception,
    javaClassName: typeof javaClassName === "string" ? javaClassName : exception,
    message: typeof message === "string" ? message : "",
  };
}

const codes: Readonly<Record<string, FileSystemErrorCode>> = {
  FileNotFoundException: "FILE_NOT_FOUND",
  FileAlreadyExistsException: "FILE_EXISTS",
  ParentNotDirectoryException: "NOT_A_DIRECTORY",
  PathIsNotDirectoryException: "NOT_A_DIRECTORY",
  PathIsNotEmptyDirectoryException: "DIRECTORY_NOT_EMPTY",
  AccessControlException: "ACCESS_DENIED",
  AuthorizationException: "ACCESS_DENIED",
  SecurityException: "AUTHENTICATION_FAILED",
  AuthenticationException: "AUTHENTICATION_FAILED",
  InvalidToken: "AUTHENTICATION_FAILED",
  SafeModeException: "SAFE_MODE",
  NSQuotaExceededException: "QUOTA_EXCEEDED",
  DSQuotaExceededException: "QUOTA_EXCEEDED",
  QuotaByStorageTypeExceededException: "QUOTA_EXCEEDED",
  StandbyException: "STANDBY",
  RetriableException: "NOT_READY",
  ObserverRetryOnActiveException: "STANDBY",
  AlreadyBeingCreatedException: "LEASE_HELD",
  RecoveryInProgressException: "LEASE_HELD",
  LeaseExpiredException: "LEASE_HELD",
  InvalidPathException: "INVALID_REQUEST",
  IllegalArgumentException: "INVALID_REQUEST",
  UnsupportedOperationException: "INVALID_REQUEST",
};

/** Plain IOExceptions that only their text distinguishes. */
const texts: readonly (readonly [RegExp, FileSystemErrorCode])[] = [
  [
    /could only be (?:replicated|written) to 0|Failed to find datanode|Unable to create new block|No space left/,
    "NO_SPACE",
  ],
  [/NameNode still not started|Namesystem has not been initialized/, "NOT_READY"],
  [/Name node is in safe mode/, "SAFE_MODE"],
  [/is non empty/, "DIRECTORY_NOT_EMPTY"],
  // RENAME of a file onto a directory or the reverse (FSDirRenameOp.validateOverwrite)
  [/must both be directories/, "FILE_EXISTS"],
  [/^Permission denied/, "ACCESS_DENIED"],
];

/** The remedy for each code. */
const fixes: Partial<Readonly<Record<FileSystemErrorCode, string>>> = {
  SAFE_MODE: "the NameNode takes no writes until it leaves safe mode (hdfs dfsadmin -safemode get)",
  QUOTA_EXCEEDED: "remove files or ask an administrator for more (hdfs dfs -count -q -h shows the quota)",
  NO_SPACE: "no DataNode could take the data: all are full, dead or excluded (hdfs dfsadmin -report)",
  AUTHENTICATION_FAILED: "the cluster does not accept this user as it signed in",
};

const retryableCodes: ReadonlySet<FileSystemErrorCode> = new Set(["STANDBY", "NOT_READY", "SAFE_MODE", "NO_SPACE"]);

/** The typed error for a refusal. The message keeps the server's first line and adds the remedy. */
export function errorOfRemoteException(remote: RemoteException, operation: string, path: string): FileSystemError {
  const code = codeOf(remote);
  const [firstLine = ""] = remote.message.split(/\.?\n|\.$/);
  const fix = code === "ACCESS_DENIED" ? accessFix(remote.message) : fixes[code];
  const line = withoutTokens(firstLine);
  const said = code === "REMOTE" ? `${remote.exception}: ${line}` : line;
  return new FileSystemError(`${operation} ${path}: ${said}${fix === undefined ? "" : `; ${fix}`}`, {
    code,
    operation,
    path,
    javaClass: remote.javaClassName,
    retryable: retryableCodes.has(code),
  });
}

/** Removes tokens as WebHDFS writes them in addresses. */
function withoutTokens(text: string): string {
  return text.replace(/([?&](?:delegation|token)=)[^\s&"'<>]*/gi, "$1…");
}

function codeOf(remote: RemoteException): FileSystemErrorCode {
  const byText = texts.find(([pattern]) => pattern.test(remote.message))?.[1];
  // An HA NameNode wraps a SafeModeException in a RetriableException.
  if (remote.exception === "RetriableException" && byText !== undefined) return byText;
  return entryOf(codes, remote.exception) ?? byText ?? "REMOTE";
}

/** `Permission denied: user=ada, access=WRITE, inode="/user":hdfs:supergroup:drwxr-xr-x` names what to change. */
function accessFix(message: string): string | undefined {
  const match = /user=([^,]{1,256}), access=([A-Z_]{1,32}), inode="([^"]{1,8192})":([^:]{1,256}):/.exec(message);
  if (match === null) return undefined;
  const [, user, access, inode, owner] = match;
  return `${owner}, who owns ${inode}, or an administrator can give ${user} ${access?.toLowerCase()} access there`;
}
