import { HadoopError } from "../errors.ts";

/** How we interpret a Java exception. */
interface Meaning {
  readonly code: string;
  /** Whether the same call, unchanged, may succeed later, at this server or another. */
  readonly retryable?: boolean;
}

/** An exception that the server threw. `code` gives its meaning; the Java class and message are kept unchanged. */
export class RemoteError extends HadoopError {
  override readonly name = "RemoteError";
  /** Fully qualified, as the server named it. */
  readonly javaClass: string;
  readonly javaMessage: string;
  /** The server's stack trace, where it sent one. */
  readonly javaStack: string;

  /** Whether the server rejected the caller rather than the call (FATAL_UNAUTHORIZED of RpcResponseHeaderProto). */
  readonly unauthorized: boolean;

  /** `text` is the message, then the lines of a stack trace (errorMsg of RpcResponseHeaderProto). */
  constructor(javaClass: string, text: string, { unauthorized = false }: { readonly unauthorized?: boolean } = {}) {
    const message = messageOf(text, javaClass);
    super(`${message} (${simpleName(javaClass)})`, meaningOf(wrappedClass(javaClass, message) ?? javaClass));
    this.javaClass = javaClass;
    this.javaMessage = message;
    this.unauthorized = unauthorized;
    this.javaStack = text.slice(traceStart(text)).trim();
  }
}

/** Whether the server threw this error and its code is one of `codes`. */
export function isRemoteError(error: unknown, ...codes: readonly string[]): error is RemoteError {
  return error instanceof RemoteError && codes.includes(error.code);
}

/** The only place that interprets Java's exceptions. One that is not listed is REMOTE_EXCEPTION and not retried. */
function meaningOf(javaClass: string): Meaning {
  switch (simpleName(javaClass)) {
    case "StandbyException":
      return { code: "STANDBY", retryable: true };
    case "RetriableException":
    case "ObserverRetryOnActiveException":
      return { code: "NOT_READY", retryable: true };
    case "NMNotYetReadyException":
      return { code: "NODE_NOT_READY", retryable: true };
    case "RpcNoSuchMethodException":
    case "RpcNoSuchProtocolException":
      return { code: "NOT_SUPPORTED_BY_SERVER" };
    case "VersionMismatch":
      return { code: "VERSION_MISMATCH" };
    case "AccessControlException":
    case "AuthorizationException":
      return { code: "ACCESS_DENIED" };
    case "InvalidToken":
      return { code: "INVALID_TOKEN" };
    case "ApplicationNotFoundException":
      return { code: "APPLICATION_NOT_FOUND" };
    case "ApplicationAttemptNotFoundException":
      return { code: "ATTEMPT_NOT_FOUND" };
    case "ContainerNotFoundException":
      return { code: "CONTAINER_NOT_FOUND" };
    case "ApplicationMasterNotRegisteredException":
      return { code: "NOT_REGISTERED" };
    case "InvalidApplicationMasterRequestException":
      return { code: "INVALID_MASTER_REQUEST" };
    case "InvalidResourceRequestException":
      return { code: "INVALID_RESOURCE_REQUEST" };
    case "InvalidLabelResourceRequestException":
      return { code: "INVALID_LABEL" };
    case "InvalidResourceBlacklistRequestException":
      return { code: "INVALID_BLACKLIST" };
    case "InvalidContainerReleaseException":
      return { code: "INVALID_RELEASE" };
    case "InvalidContainerException":
      return { code: "INVALID_CONTAINER" };
    case "ResourceNotFoundException":
      return { code: "RESOURCE_TYPE_UNKNOWN" };
    default:
      return { code: "REMOTE_EXCEPTION" };
  }
}

/**
 * The class of an exception that YARN wraps in another one: the message begins with it
 * (org.apache.hadoop.yarn.ipc.RPCUtil#getRemoteException).
 */
function wrappedClass(javaClass: string, message: string): string | undefined {
  if (simpleName(javaClass) !== "YarnException") return undefined;
  return /^([\w.$]{1,200}): /.exec(message)?.[1];
}

/** `org.apache.hadoop.security.token.SecretManager$InvalidToken` → `InvalidToken` */
function simpleName(javaClass: string): string {
  return javaClass.slice(Math.max(javaClass.lastIndexOf("."), javaClass.lastIndexOf("$")) + 1);
}

/** Everything before the stack trace, which may span several lines. */
function messageOf(text: string, javaClass: string): string {
  const message = text.slice(0, traceStart(text)).trim();
  return message === "" ? simpleName(javaClass) : message;
}

function traceStart(text: string): number {
  const start = text.search(/^[ \t]*at [\w.$/<>]+\(|^Caused by: /m);
  return start < 0 ? text.length : start;
}
