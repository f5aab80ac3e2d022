import path from "node:path";
import type { ExecutorSettings } from "../../executor/settings.ts";
/** What an executor is launched with. */
export const anExecutorLaunch = {
  task: "worker:1",
  applicationId: "application_1_0001",
  masterAddress: "[::1]:4000",
  staging: { user: "alice", stagingUrl: "hdfs://ns/staging", hadoop: { "dfs.nameservices": "ns" } },
  attempt: 2,
  generation: 3,
  isolationMs: 30_000,
  sections: { ports: { task: { from: 5000, to: 5010 } }, logs: { level: "info", maxSizeMiB: 128, maxFiles: 10 } },
  portNames: ["rpc", "metrics"],
  tensorBoard: true,
  reusePort: false,
  memoryMiB: 1024,
} as const;

/** The settings of an executor whose logs are in that folder, without ports of its own. */
export function executorSettingsIn(logFolder: string, changes: Partial<ExecutorSettings> = {}): ExecutorSettings {
  const { applicationId, masterAddress, staging, attempt, isolationMs, sections } = anExecutorLaunch;
  return {
    ...{ applicationId, masterAddress, staging, attempt, isolationMs, sections: { ...sections, ports: {} } },
    task: { role: "worker", index: 0 },
    containerId: "container_1",
    host: "127.0.0.1",
    generation: 1,
    portNames: ["rpc"],
    tensorBoard: false,
    reusePort: false,
    logFolder,
    logPrefix: "",
    tokenFile: path.join(logFolder, "tokens"),
    ...changes,
  };
}
