import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";

const resource = { memoryMiB: 512, vcores: 1, others: {} };

/** A job with two workers and the defaults, for programs that need a complete one. */
export function aJobSpec(changes: Partial<JobSpec> = {}): JobSpec {
  return {
    specVersion: 2,
    name: "test",
    applicationType: "TONY",
    tags: [],
    queue: "default",
    framework: "generic",
    gpuTypes: ["yarn.io/gpu"],
    distributedMode: "gang",
    files: [],
    am: { resource, files: [] },
    roles: [aRole("worker", 2)],
    leadTask: "worker:0",
    tensorBoardTask: "worker:0",
    containerEnvironment: {},
    groupLimits: [],
    failure: {
      onWorkerFailure: "fail",
      budgets: { program: 0, infrastructure: 3 },
      backOff: { initialMs: 1000, maxMs: 60_000 },
      blame: { container: 1, node: 2, job: 3 },
      outputLines: 20,
    },
    timeouts: {
      gangHoldMs: 300_000,
      gangRestMs: 30_000,
      launchMs: 600_000,
      heartbeatIntervalMs: 1000,
      heartbeatExpiryMs: 10_000,
      massSilenceMs: 60_000,
      orphanMs: 780_000,
      isolationMs: 30_000,
      verdictMs: 15_000,
      infrastructureWindowMs: 3_600_000,
      stopGraceMs: 10_000,
      afterChiefMs: 60_000,
      metricsIntervalMs: 5000,
    },
    preemption: { signal: "SIGTERM" },
    ports: {},
    history: { timeZone: "UTC" },
    logs: { level: "info", maxSizeMiB: 128, maxFiles: 8 },
    metrics: { gpus: true, nvidiaSmi: "nvidia-smi" },
    sources: {},
    ...changes,
  };
}

export function aRole(name: string, instances: number, changes: Partial<RoleSpec> = {}): RoleSpec {
  return {
    name,
    instances,
    resource,
    placement: "any",
    processes: 1,
    command: "true",
    environment: {},
    tracking: "tracked",
    stopOnFailure: false,
    chief: name === "worker" ? "first" : "none",
    restartPolicy: "gang",
    reusePort: false,
    files: [],
    ...changes,
  };
}
