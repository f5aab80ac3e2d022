import { clusterTool } from "./cluster-tool.mjs";

/** Once after the files of Jest's project `cluster`: what set-up made is removed. */
export default async function tearDown() {
  const name = Reflect.get(globalThis, "tonyClusterToRemove");
  if (name !== undefined) await clusterTool(["down", "--delete", "--name", name]);
}
