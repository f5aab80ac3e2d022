import { clusterTool } from "./cluster-tool.mjs";

/**
 * Runs once before the files of Jest's project `cluster`, and sees to it that the cluster they use is up. It is the one
 * that TONY_TEST_CLUSTER names, or `test`. A cluster that is already up is used and left up; one that is started here
 * is removed at the end.
 */
export default async function setUp() {
  const name = process.env.TONY_TEST_CLUSTER ?? "test";
  process.env.TONY_TEST_CLUSTER = name;
  if ((await clusterTool(["status", "--name", name])) === 0) return;
  Reflect.set(globalThis, "tonyClusterToRemove", name);
  const code = await clusterTool(["up", "--name", name]);
  if (code !== 0) throw new Error(`cluster ${name} did not come up`);
}
