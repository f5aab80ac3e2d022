/** What secret managers say of a token (org.apache.hadoop.security.token.delegation.AbstractDelegationTokenSecretManager#checkToken). */
const endings = [
  [/\btoken\b[^\n]{0,2000}? can't be found in cache/i, "forgotten"],
  [/\btoken\b[^\n]{0,2000}? (?:is|has) expired/i, "expired"],
] as const;

/** Why a server does not accept a delegation token any more: it was cancelled or its longest life is over, or nobody renewed it in time. */
export type TokenEnding = (typeof endings)[number][1];

/** @param message of a server, or a text that quotes one; undefined where it says nothing of the kind */
export function tokenEnding(message: string): TokenEnding | undefined {
  return endings.find(([words]) => words.test(message))?.[1];
}
