import { type Token, TokenKind } from "./token.ts";

/** A token under the alias by which Hadoop's programs find it: usually its service. */
export interface NamedToken {
  readonly alias: string;
  readonly token: Token;
}

/** The tokens with which a process may authenticate, and secrets by name (org.apache.hadoop.security.Credentials). */
export interface Credentials {
  readonly tokens: readonly NamedToken[];
  readonly secrets: ReadonlyMap<string, Uint8Array>;
}

/** The credentials of a process that has none. */
export const noCredentials: Credentials = { tokens: [], secrets: new Map() };

/** The first token of a kind. YARN gives the ApplicationMaster's token neither alias nor service, so it is found by kind. */
export function tokenOfKind(credentials: Credentials, kind: string): Token | undefined {
  return credentials.tokens.find(({ token }) => token.kind === kind)?.token;
}

/** The key stores with which its page is served to YARN's proxy, and their passwords (org.apache.hadoop.yarn.server.security.AMSecretKeys). */
const MASTER_SECRETS = "yarn.application.am.";

/** The credentials that may be passed to task containers: everything but the right to act as the ApplicationMaster. */
export function withoutMasterRights({ tokens, secrets }: Credentials): Credentials {
  return {
    tokens: tokens.filter(({ token }) => token.kind !== TokenKind.applicationMaster),
    secrets: new Map([...secrets].filter(([name]) => !name.startsWith(MASTER_SECRETS))),
  };
}

/** Replaces tokens by newer ones of the same kind for the same service. */
export function renewedCredentials(held: Credentials, newer: readonly NamedToken[]): Credentials {
  const isNewer = ({ token }: NamedToken) =>
    newer.some(({ token: { kind, service } }) => kind === token.kind && service === token.service);
  return { ...held, tokens: [...held.tokens.filter((old) => !isNewer(old)), ...newer] };
}
