/**
 * The Hadoop releases for a cluster, the oldest first. `profiles` are those in docker/hadoop/pom.xml for whose jars Maven Central has that
 * release.
 * @type {Readonly<Record<string, { profiles: readonly string[] }>>}
 */
export const RELEASES = {
  "2.10.2": { profiles: [] },
  "3.2.4": { profiles: [] },
  "3.3.6": { profiles: [] },
  "3.4.2": { profiles: ["httpfs", "router", "kms", "distributed-shell"] },
};

/** @param {string} release one of RELEASES */
export function profilesOf(release) {
  const known = RELEASES[release];
  if (known === undefined) throw new Error(`Hadoop ${release} is none of ${Object.keys(RELEASES).join(", ")}`);
  return known.profiles;
}

/** The release that is tested in depth. */
export const DEFAULT_RELEASE = "3.4.2";
