import type { Token } from "../yarn/records.ts";
import type { Credentials } from "./token-file.ts";

/** Kinds of tokens, as their Java classes name them (`TokenIdentifier#getKind`). */
export const TokenKind = {
  /** Opens the ResourceManager's scheduler to one application attempt. */
  applicationMaster: "YARN_AM_RM_TOKEN",
  node: "NMToken",
  container: "ContainerToken",
  resourceManagerDelegation: "RM_DELEGATION_TOKEN",
  hdfsDelegation: "HDFS_DELEGATION_TOKEN",
  webHdfsDelegation: "WEBHDFS delegation",
  client: "YARN_CLIENT_TOKEN",
} as const;

/** The first token of a kind. YARN gives the ApplicationMaster's neither alias nor service, so kind is how it is found. */
export function tokenOfKind(credentials: Credentials, kind: string): Token | undefined {
  return credentials.tokens.find(({ token }) => token.kind === kind)?.token;
}

/** What may go on to task containers: everything but the right to speak for the application. */
export function withoutMasterToken(credentials: Credentials): Credentials {
  return {
    ...credentials,
    tokens: credentials.tokens.filter(({ token }) => token.kind !== TokenKind.applicationMaster),
  };
}
