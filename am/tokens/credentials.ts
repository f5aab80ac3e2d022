import {
  type ApplicationIdentity,
  executorIdentity,
  executorSecrets,
  withoutOwnSecrets,
} from "../../src/api/identity.ts";
import { TonyError } from "../../src/errors.ts";
import { type Credentials, tokenOfKind, withoutMasterRights } from "../../src/hadoop/security/credentials.ts";
import { type Token, TokenKind } from "../../src/hadoop/security/token.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";

/** The token by which the ResourceManager authenticates this attempt. @throws TonyError with code `TOKEN_MISSING` */
export function masterToken(credentials: Credentials, file: string): Token {
  const token = tokenOfKind(credentials, TokenKind.applicationMaster);
  if (token !== undefined) return token;
  throw new TonyError(`${file} holds no token for the ResourceManager`, { code: "TOKEN_MISSING" });
}

/**
 * The part of the ApplicationMaster's credentials that a task's container gets: the user's tokens and secrets, and the secret of that
 * container's executor.
 */
export function executorCredentials(own: Credentials, identity: ApplicationIdentity, containerId: string): Uint8Array {
  const { tokens, secrets } = withoutMasterRights(own);
  const executors = executorSecrets(executorIdentity(identity, containerId));
  return writeTokenFile({ tokens, secrets: new Map([...withoutOwnSecrets(secrets), ...executors]) });
}

/** The user's tokens, as a token file without any secret. */
export function userTokens(own: Credentials): Uint8Array {
  return writeTokenFile({ ...withoutMasterRights(own), secrets: new Map() });
}
