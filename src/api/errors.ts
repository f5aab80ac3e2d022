import { status } from "@grpc/grpc-js";
import { TonyError, withoutStatus } from "../errors.ts";
import { errorCode, errorMessage } from "../hadoop/errors.ts";

/**
 * A call between the programs failed. Codes:
 * - `API_UNREACHABLE`: no connection, or it broke (retryable)
 * - `API_TIMEOUT`: no answer in time (retryable)
 * - `API_UNAUTHENTICATED`: caller and server do not share the secret
 * - `API_FORBIDDEN`: the caller may not do that
 * - `API_PROTOCOL_MISMATCH`: the peer has another, incompatible version
 * - `API_CANCELLED`: the caller cancelled it
 * - `API_FAILED`: the peer refused it for the reason in the message
 */
export class ApiError extends TonyError {
  override readonly name = "ApiError";
}

/** Converts an error of grpc-js to an ApiError. */
export function toApiError(error: unknown, peer: string): ApiError {
  const details = withoutStatus(errorMessage(error));
  const message = `${peer}: ${details}`;
  switch (errorCode(error)) {
    case status.UNAVAILABLE:
      return isCertificateError(error)
        ? new ApiError(message, { code: "API_UNAUTHENTICATED", cause: error })
        : new ApiError(message, { code: "API_UNREACHABLE", cause: error, retryable: true });
    case status.DEADLINE_EXCEEDED:
      return new ApiError(message, { code: "API_TIMEOUT", cause: error, retryable: true });
    case status.UNAUTHENTICATED:
      return new ApiError(message, { code: "API_UNAUTHENTICATED", cause: error });
    case status.PERMISSION_DENIED:
      return new ApiError(details, { code: "API_FORBIDDEN", cause: error });
    case status.FAILED_PRECONDITION:
      return new ApiError(message, { code: "API_PROTOCOL_MISMATCH", cause: error });
    case status.NOT_FOUND:
      return new ApiError(details, { code: "API_FAILED", cause: error });
    case status.CANCELLED:
      return new ApiError(message, { code: "API_CANCELLED", cause: error });
    default:
      return new ApiError(message, { code: "API_FAILED", cause: error });
  }
}

/** grpc-js reports such an error as UNAVAILABLE, with a message of OpenSSL or of tls.ts. */
function isCertificateError(error: unknown): boolean {
  return /certificate/i.test(errorMessage(error));
}
