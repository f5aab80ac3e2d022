import { CodedError, errorMessage, HadoopError } from "../errors.ts";

/** Why it was not settled who we are, or whom we speak to. */
export type AuthenticationErrorCode =
  | "RPC_AUTHENTICATION"
  | "HTTP_AUTHENTICATION"
  /** The process runs under a number that has no name. */
  | "USER_NAMELESS"
  /** The server takes Kerberos alone, and nobody here speaks it. */
  | "KERBEROS_NEEDED"
  /** Of the tokens that were given, none is for the server. */
  | "TOKEN_MISSING"
  /** The configuration wants proofs, and the server asks for none. */
  | "SERVER_NOT_SECURE"
  /** The server took our proof and gave none of its own. */
  | "SERVER_NOT_PROVED"
  | "KERBEROS_NO_TICKET"
  | "KERBEROS_TICKET_EXPIRED"
  /** It is missing, holds no key of the principal, or one that the KDC no longer accepts. */
  | "KERBEROS_KEYTAB"
  | "KERBEROS_CLOCK_SKEW"
  /** The KDC does not know the server, or it is not the one that the configuration names. */
  | "KERBEROS_SERVER"
  /** No KDC of the realm answers, or it does not know who we are. */
  | "KERBEROS_REALM"
  | "KERBEROS_LIBRARY_MISSING"
  | "KERBEROS_FAILED";

/** Who we are was not settled with the server: no common mechanism, a wrong token, or a peer that could not prove itself. */
export class AuthenticationError extends HadoopError {
  override readonly name = "AuthenticationError";
  declare readonly code: AuthenticationErrorCode;

  constructor(message: string, options: { readonly code?: AuthenticationErrorCode; readonly cause?: unknown } = {}) {
    super(message, { code: options.code ?? "RPC_AUTHENTICATION", cause: options.cause });
  }
}

/** What a CredentialsProvider threw, as its caller gets it: an error with a code stays what it is. */
export function authenticationFailure(error: unknown, code: AuthenticationErrorCode): CodedError {
  if (error instanceof CodedError) return error;
  return new AuthenticationError(`The credentials cannot be used: ${errorMessage(error)}`, { code, cause: error });
}
