import { type Token, TokenKind } from "./token.ts";

/** A token under the name that Hadoop's programs find it by: its service, as a rule. */
export interface NamedToken {
  readonly alias: string;
  readonly token: Token;
}

/** What a process may prove itself with, and secrets by name (org.apache.hadoop.security.Credentials). */
export interface Credentials {
  readonly tokens: readonly NamedToken[];
  readonly secrets: ReadonlyMap<string, Uint8Array>;
}

/** Of one who has none. */
export const noCredentials: Credentials = { tokens: [], secrets: new Map() };

/** The first token of a kind. YARN gives the ApplicationMaster's neither alias nor service, so kind is how it is found. */
export function tokenOfKind(credentials: Credentials, kind: string): Token | undefined {
  return credentials.tokens.find(({ token }) => token.kind === kind)?.token;
}

/** The stores by which its page is served to YARN's proxy, and their passwords (org.apache.hadoop.yarn.server.security.AMSecretKeys). */
const MASTER_SECRETS = "yarn.application.am.";

/** What may go on to task containers: everything but the right to speak for the application. */
export function withoutMasterRights({ tokens, secrets }: Credentials): Credentials {
  return {
    tokens: tokens.filter(({ token }) => token.kind !== TokenKind.applicationMaster),
    secrets: new Map([...secrets].filter(([name]) => !name.startsWith(MASTER_SECRETS))),
  };
}

/** With newer tokens in place of those of the same kind for the same service. */
export function renewedCredentials(held: Credentials, newer: readonly NamedToken[]): Credentials {
  const isNewer = ({ token }: NamedToken) =>
    newer.some(({ token: { kind, service } }) => kind === token.kind && service === token.service);
  return { ...held, tokens: [...held.tokens.filter((old) => !isNewer(old)), ...newer] };
}
