import { type ClusterStatus, clusterStatus, clusterTool } from "../test/support/cluster.ts";

const name = "bench";

/**
 * A cluster of the bench's own: one node, so that every container shares it, and YARN's default heartbeat of a second.
 * @returns the cluster and what ends it
 */
export async function startCluster(): Promise<{ cluster: ClusterStatus; end: () => Promise<void> }> {
  await clusterTool(["up", "--name", name, "--nodes", "1", "--label", "none", "--nm-heartbeat-ms", "1000"]);
  return {
    cluster: await clusterStatus(name),
    end: async () => {
      await clusterTool(["down", "--name", name]);
    },
  };
}
