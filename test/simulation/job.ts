import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import type { Random } from "./random.ts";

/** A job with sensible settings; `change` what a test is about. */
export function jobSpec(roles: readonly RoleSpec[], change: Partial<JobSpec> = {}): JobSpec {
  return {
    specVersion: 1,
    name: "simulated",
    applicationType: "TONY",
    tags: [],
    queue: "default",
    framework: "standalone",
    distributedMode: "gang",
    am: { resource: { memoryMiB: 512, vcores: 1, others: {} }, resources: [] },
    roles,
    leadTask: `${roles[0]?.name ?? "worker"}:0`,
    tensorBoardTask: `${roles[0]?.name ?? "worker"}:0`,
    resources: [],
    containerEnvironment: {},
    failure: {
      onWorkerFailure: "fail",
      budgets: { program: 2, infrastructure: 20 },
      backOff: { initialMs: 1_000, maxMs: 8_000 },
      blame: { container: 1, node: 2, job: 3 },
      outputLines: 20,
    },
    timeouts: {
      gangHoldMs: 300_000,
      launchMs: 120_000,
      heartbeatIntervalMs: 2_000,
      heartbeatExpiryMs: 10_000,
      massSilenceMs: 60_000,
      orphanMs: 780_000,
      verdictMs: 15_000,
      stopGraceMs: 5_000,
      afterChiefMs: 20_000,
      metricsIntervalMs: 5_000,
    },
    preemption: { signal: "SIGTERM" },
    ports: {},
    history: {},
    logs: { level: "info" },
    sources: { "tony.worker.memory": "job.xml:16" },
    ...change,
  };
}

export function role(name: string, instances: number, change: Partial<RoleSpec> = {}): RoleSpec {
  return {
    name,
    instances,
    resource: { memoryMiB: 1024, vcores: 1, others: {} },
    placement: "any",
    command: "python train.py",
    environment: {},
    tracking: name === "ps" ? "untracked" : name === "tensorboard" ? "sidecar" : "tracked",
    stopOnFailure: false,
    chief: name === "chief" ? "all" : name === "worker" ? "first" : "none",
    restartPolicy: "gang",
    reusePort: false,
    resources: [],
    ...change,
  };
}

/** Any job a person might write, small enough for a small cluster. */
export function randomJob(random: Random): JobSpec {
  const roles: RoleSpec[] = [];
  if (random.chance(0.2)) {
    roles.push(role("chief", 1, randomNeeds(random)));
  }
  roles.push(
    role("worker", random.integer(1, 5), {
      ...randomNeeds(random),
      chief: roles.length === 0 ? "first" : "none",
      restartPolicy: random.chance(0.85) ? "gang" : "task",
    }),
  );
  if (random.chance(0.4)) {
    roles.push(role("ps", random.integer(1, 2), { ...randomNeeds(random), stopOnFailure: random.chance(0.3) }));
  }
  if (random.chance(0.2)) {
    roles.push(role("evaluator", 1, { restartPolicy: random.pick(["gang", "task", "none"]) }));
  }
  if (random.chance(0.2)) {
    roles.push(role("tensorboard", 1, { restartPolicy: random.pick(["none", "task"]) }));
  }
  const base = jobSpec(roles);
  return jobSpec(roles, {
    distributedMode: random.chance(0.9) ? "gang" : "fcfs",
    failure: {
      ...base.failure,
      onWorkerFailure: random.chance(0.85) ? "fail" : "tolerate",
      budgets: { program: random.integer(0, 3), infrastructure: random.integer(1, 20) },
    },
    timeouts: {
      ...base.timeouts,
      gangHoldMs: random.integer(5, 300) * 1000,
      ...(random.chance(0.1) ? { applicationMs: random.integer(30, 900) * 1000 } : {}),
      ...(random.chance(0.1) ? { executionMs: random.integer(30, 900) * 1000 } : {}),
    },
  });
}

function randomNeeds(random: Random): Pick<RoleSpec, "resource" | "placement"> {
  return {
    resource: { memoryMiB: random.pick([256, 700, 1024, 2048]), vcores: random.integer(1, 2), others: {} },
    placement: random.pick(["any", "any", "pack", "spread"]),
  };
}
