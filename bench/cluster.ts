import { type ClusterStatus, clusterStatus, clusterTool, takeTickets } from "../test/support/cluster.ts";

/** How a cluster protects its calls: not at all, or by Kerberos with that protection of RPC (`hadoop.rpc.protection`) and by HTTPS. */
export const guards = ["open", "authentication", "integrity", "privacy"] as const;
export type Guard = (typeof guards)[number];

/** Starts the bench's cluster of that kind the first time it is asked for. */
export type ClusterOf = (guard?: Guard) => Promise<ClusterStatus>;

/** The clusters that one run of the bench uses: each has one node, which every container shares, and YARN's default heartbeat of a second. */
export class BenchClusters {
  readonly #started = new Map<Guard, Promise<ClusterStatus>>();

  readonly of: ClusterOf = async (guard = "open") => {
    const cluster = this.#started.get(guard) ?? start(guard);
    this.#started.set(guard, cluster);
    const { security } = await cluster;
    // Each cluster has a KDC of its own, whose tickets replace those of another.
    if (security !== undefined) await takeTickets(security);
    return await cluster;
  };

  /** Takes all clusters down, even one that did not start. Then rejects with the first error, if there was one. */
  async end(): Promise<void> {
    for (const guard of this.#started.keys()) await clusterTool(["down", "--name", nameOf(guard)]);
  }
}

async function start(guard: Guard): Promise<ClusterStatus> {
  const security = guard === "open" ? [] : ["--secure", "--protection", guard];
  const node = ["--nodes", "1", "--label", "none", "--nm-heartbeat-ms", "1000", "--compiler", "full"];
  await clusterTool(["up", "--name", nameOf(guard), ...node, ...security]);
  return await clusterStatus(nameOf(guard));
}

const nameOf = (guard: Guard): string => (guard === "open" ? "bench" : `bench-${guard}`);
