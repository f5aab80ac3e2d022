import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import type { Finding } from "../cluster/finding.ts";

/** NodeManagers count address space, of which Python with CUDA, Node and the JVM reserve far more than they use. */
export function virtualMemoryFindings(configuration: Configuration): Finding[] {
  if (!configuration.getBoolean("yarn.nodemanager.vmem-check-enabled", true)) return [];
  const ratio = configuration.get("yarn.nodemanager.vmem-pmem-ratio");
  const found = `NodeManagers end containers that use more than ${ratio} times their memory as virtual memory, as far as the configuration here tells`;
  const remedy =
    "set yarn.nodemanager.vmem-check-enabled to false on the nodes: programs with CUDA or a JVM reserve far more than they use";
  return [{ subject: "memory", state: "remark", found, remedy }];
}
