/** What an executor is launched with. */
export const anExecutorLaunch = {
  task: "worker:1",
  applicationId: "application_1_0001",
  masterAddress: "[::1]:4000",
  staging: { user: "alice", stagingUrl: "hdfs://ns/staging", hadoop: { "dfs.nameservices": "ns" } },
  attempt: 2,
  generation: 3,
  isolationMs: 30_000,
  portRange: { from: 5000, to: 5010 },
  portNames: ["rpc", "metrics"],
  tensorBoard: true,
  reusePort: false,
  memoryMiB: 1024,
  logLevel: "info",
} as const;
