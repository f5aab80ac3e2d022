import { HadoopError } from "../errors.ts";

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
