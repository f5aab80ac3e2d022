import { clusterTool } from "./cluster-tool.mjs";

/** Runs once after the files of Jest's project `cluster`, and removes the cluster that the set-up started. */
export default async function tearDown() {
  const name = Reflect.get(globalThis, "tonyClusterToRemove");
  if (name !== undefined) await clusterTool(["down", "--delete", "--name", name]);
}
