import { clusterTool } from "./cluster-tool.mjs";

/**
 * Once before the files of Jest's project `cluster`: the cluster they use is up. It is the one that TONY_TEST_CLUSTER
 * names, or `test`. One that is up already is used and left; one that is started here is removed at the end.
 */
export default async function setUp() {
  const name = process.env.TONY_TEST_CLUSTER ?? "test";
  process.env.TONY_TEST_CLUSTER = name;
  if ((await clusterTool(["status", "--name", name])) === 0) return;
  Reflect.set(globalThis, "tonyClusterToRemove", name);
  const code = await clusterTool(["up", "--name", name]);
  if (code !== 0) throw new Error(`cluster ${name} did not come up`);
}
