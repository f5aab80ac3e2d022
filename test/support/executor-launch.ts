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
