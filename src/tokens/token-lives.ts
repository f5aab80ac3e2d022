import type { Configuration } from "../hadoop/conf/configuration.ts";

const dayMs = 86_400_000;

/** Servers do not say these of themselves; a cluster's configuration files say the same everywhere. */
const intervalKeys = [
  "dfs.namenode.delegation.token.renew-interval",
  "yarn.resourcemanager.delegation.token.renew-interval",
] as const;
const longestKeys = [
  "dfs.namenode.delegation.token.max-lifetime",
  "yarn.resourcemanager.delegation.token.max-lifetime",
] as const;

/** How long a delegation token lives that nobody renews, as far as this machine's copy of the servers' configuration tells. */
export function renewIntervalMs(configuration: Configuration): number {
  return shortest(configuration, intervalKeys, dayMs);
}

/** How long one lives at most, however often it is renewed. */
export function longestLifeMs(configuration: Configuration): number {
  return shortest(configuration, longestKeys, 7 * dayMs);
}

function shortest(configuration: Configuration, keys: readonly string[], hadoopsMs: number): number {
  return Math.min(...keys.map((key) => configuration.getDurationMs(key, "ms", hadoopsMs)));
}
