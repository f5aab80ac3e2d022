import { CodedError, errorMessage, HadoopError } from "../errors.ts";

/** Why we could not authenticate ourselves or the server. */
export type AuthenticationErrorCode =
  | "RPC_AUTHENTICATION"
  | "HTTP_AUTHENTICATION"
  /** The process runs under a user id that has no name. */
  | "USER_NAMELESS"
  /** The server accepts only Kerberos, which is not set up here. */
  | "KERBEROS_NEEDED"
  /** None of the given tokens is for the server. */
  | "TOKEN_MISSING"
  /** The configuration requires authentication, and the server demands none. */
  | "SERVER_NOT_SECURE"
  /** The server accepted our credentials and did not authenticate itself. */
  | "SERVER_NOT_PROVED"
  | "KERBEROS_NO_TICKET"
  | "KERBEROS_TICKET_EXPIRED"
  /** The keytab is missing, has no key of the principal, or has one that the KDC no longer accepts. */
  | "KERBEROS_KEYTAB"
  | "KERBEROS_CLOCK_SKEW"
  /** The KDC does not know the server, or the server is not the one that the configuration names. */
  | "KERBEROS_SERVER"
  /** No KDC of the realm answers, or it does not know us. */
  | "KERBEROS_REALM"
  | "KERBEROS_LIBRARY_MISSING"
  | "KERBEROS_FAILED";

/** Authentication with the server failed: no common mechanism, a wrong token, or a peer that could not authenticate itself. */
export class AuthenticationError extends HadoopError {
  override readonly name = "AuthenticationError";
  declare readonly code: AuthenticationErrorCode;

  constructor(message: string, options: { readonly code?: AuthenticationErrorCode; readonly cause?: unknown } = {}) {
    super(message, { code: options.code ?? "RPC_AUTHENTICATION", cause: options.cause });
  }
}

/** Turns what a CredentialsProvider threw into the error for its caller: an error with a code stays as it is. */
export function authenticationFailure(error: unknown, code: AuthenticationErrorCode): CodedError {
  if (error instanceof CodedError) return error;
  return new AuthenticationError(`The credentials cannot be used: ${errorMessage(error)}`, { code, cause: error });
}
