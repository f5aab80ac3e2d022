import { CodedError, errorMessage, HadoopError } from "../errors.ts";

/** `KERBEROS_NEEDED`: the server takes Kerberos alone, and nobody here speaks it. */
export type AuthenticationErrorCode = "RPC_AUTHENTICATION" | "HTTP_AUTHENTICATION" | "KERBEROS_NEEDED";

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
