/**
 * The messages of secret managers about a token
 * (org.apache.hadoop.security.token.delegation.AbstractDelegationTokenSecretManager#checkToken).
 */
const endings = [
  [/\btoken\b[^\n]{0,2000}? can't be found in cache/i, "forgotten"],
  [/\btoken\b[^\n]{0,2000}? (?:is|has) expired/i, "expired"],
] as const;

/** Why a server no longer accepts a delegation token: it was cancelled or reached its maximum lifetime, or nobody renewed it in time. */
export type TokenEnding = (typeof endings)[number][1];

/** @param message a server's message, or a text that quotes one; undefined if it does not say so */
export function tokenEnding(message: string): TokenEnding | undefined {
  return endings.find(([words]) => words.test(message))?.[1];
}
