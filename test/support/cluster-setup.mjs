import { clusterTool } from "./cluster-tool.mjs";

/**
 * Once before the files of Jest's project `cluster`: the cluster they use is up. TONY_TEST_CLUSTER names one to use and
 * leave; without it one is made for this run, with nothing of an earlier one in it, and removed at the end.
 */
export default async function setUp() {
  const named = process.env.TONY_TEST_CLUSTER;
  const name = named ?? "test";
  if (named === undefined) {
    await clusterTool(["down", "--delete", "--name", name]);
    globalThis.tonyClusterToRemove = name;
  }
  await clusterTool(["up", "--name", name]);
  process.env.TONY_TEST_CLUSTER = name;
}
