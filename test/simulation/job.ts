import { searchRun } from "../../src/job/build/search-run.ts";
import type { Search } from "../../src/job/search/trials.ts";
import type { GroupLimit, JobSpec, RoleSpec } from "../../src/job/spec.ts";
import { searchOf } from "../job/search/support.ts";
import { aJobSpec, aRole } from "../support/job-spec.ts";
import type { Random } from "./random.ts";

/** A job with sensible settings; `change` is what the test is about. */
export function jobSpec(roles: readonly RoleSpec[], change: Partial<JobSpec> = {}): JobSpec {
  const base = aJobSpec();
  const first = `${roles[0]?.name ?? "worker"}:0`;
  return {
    ...base,
    name: "simulated",
    roles,
    leadTask: first,
    tensorBoardTask: first,
    failure: {
      ...base.failure,
      budgets: { program: 2, infrastructure: 20 },
      backOff: { initialMs: 1_000, maxMs: 8_000 },
    },
    timeouts: {
      ...base.timeouts,
      launchMs: 120_000,
      heartbeatIntervalMs: 2_000,
      stopGraceMs: 5_000,
      afterChiefMs: 20_000,
    },
    sources: { "tony.worker.memory": "job.xml:16", "tony.worker.gpus": "job.xml:18" },
    ...change,
  };
}

export function role(name: string, instances: number, change: Partial<RoleSpec> = {}): RoleSpec {
  return aRole(name, instances, {
    resource: { memoryMiB: 1024, vcores: 1, others: {} },
    command: "python train.py",
    tracking: name === "ps" ? "untracked" : name === "tensorboard" ? "sidecar" : "tracked",
    chief: name === "chief" ? "all" : name === "worker" ? "first" : "none",
    ...change,
  });
}

/** Any job that a person might write, small enough for a small cluster. */
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

/** The same job, perhaps with a further role of any name and policy, and with limits that few jobs set. */
export function widen(spec: JobSpec, random: Random): JobSpec {
  const further = role(random.pick(["scorer", "reader", "shard"]), random.integer(1, 2), {
    ...randomNeeds(random),
    restartPolicy: random.pick(["gang", "task", "none"]),
    tracking: random.pick(["tracked", "tracked", "untracked", "sidecar"]),
    stopOnFailure: random.chance(0.2),
  });
  const { timeouts } = spec;
  const roles = random.chance(0.3) ? [...spec.roles, further] : spec.roles;
  return {
    ...spec,
    roles,
    groupLimits: random.chance(0.05) ? randomGroupLimit(roles, random) : [],
    timeouts: {
      ...timeouts,
      ...(random.chance(0.05) ? { registrationMs: random.integer(20, 120) * 1000 } : {}),
      ...(random.chance(0.05) ? { allocationMs: random.integer(30, 600) * 1000 } : {}),
    },
  };
}

/** The same job, perhaps with roles that wait for an earlier one. */
export function inStages(spec: JobSpec, random: Random): JobSpec {
  if (!random.chance(0.12)) {
    return spec;
  }
  const roles = spec.roles.map((one, position) => {
    const before = random.any(spec.roles.slice(0, position).filter(({ tracking }) => tracking === "tracked"));
    return before !== undefined && random.chance(0.6) ? { ...one, dependsOn: [before.name] } : one;
  });
  return { ...spec, roles };
}

/**
 * The same job, perhaps with workers of which some may be missing. A job never gets them if other roles train with its workers, or if its
 * workers restart alone.
 */
export function withElasticWorkers(spec: JobSpec, random: Random): JobSpec {
  const others = spec.roles.filter(({ name, tracking }) => tracking === "tracked" && name !== "evaluator");
  const [worker] = others;
  const isFit = others.length === 1 && worker?.restartPolicy === "gang" && spec.distributedMode === "gang";
  if (!isFit || !random.chance(0.2)) {
    return spec;
  }
  const instances = Math.max(worker.instances, random.integer(2, 6));
  const elastic = { ...worker, instances, minInstances: random.integer(1, instances) };
  return {
    ...spec,
    roles: spec.roles.map((one) => (one === worker ? elastic : one)),
    timeouts: { ...spec.timeouts, gangRestMs: random.pick([50, 500, 3_000, 30_000]) },
  };
}

/** The same job, perhaps with roles that pay for their programs' failures alone. */
export function withOwnBudgets(spec: JobSpec, random: Random): JobSpec {
  if (!random.chance(0.2)) {
    return spec;
  }
  const roles = spec.roles.map((one) => (random.chance(0.5) ? { ...one, retryCount: random.integer(0, 3) } : one));
  return { ...spec, roles };
}

const ENDLESS = searchOf({ lr: "float 1e-5 1e-1 log", optimizer: "choice adam sgd" });
/** A space of nine points. */
const FINITE = searchOf({
  layers: "int 1 3",
  optimizer: "choice adam sgd",
  momentum: "float 0 0.5 step 0.5 when optimizer=sgd",
});

/** Perhaps makes a search of the job, whose trials are programs of the job's workers. */
export function asSearch(spec: JobSpec, random: Random, chance = 0.05): JobSpec {
  const worker = spec.roles.find(({ name }) => name === "worker");
  if (worker === undefined || !random.chance(chance)) {
    return spec;
  }
  const { dependsOn: _, minInstances: __, ...needs } = worker;
  const trial = { ...needs, instances: 1 };
  const algorithm = random.pick(["random", "tpe", "evolution", "grid"] as const);
  const search: Search = {
    ...(algorithm === "grid" || random.chance(0.1) ? FINITE : ENDLESS),
    algorithm,
    population: 4,
    retries: random.integer(0, 2),
    maxTrials: random.integer(2, 12),
    maxParallel: random.integer(1, 4),
    stop: random.pick(["none", "median", "asha", "asha-promotion", "hyperband"]),
    budget: { min: 1, max: 9, factor: 3 },
    ...(random.chance(0.2) ? { goal: random.integer(0, 4) } : {}),
    ...(random.chance(0.1) ? { timeoutMs: random.integer(60, 1_200) * 1000 } : {}),
    failures: {
      onFailed: random.chance(0.1) ? "end" : "continue",
      ...(random.chance(0.2) ? { most: random.integer(1, 5) } : {}),
      ...(random.chance(0.2) ? { mostInARow: random.integer(1, 4) } : {}),
    },
  };
  const timeouts = { ...spec.timeouts, progressMs: random.integer(20, 120) * 1000 };
  const job = { ...spec, timeouts, roles: [trial], groupLimits: [] };
  const ran = random.chance(0.5) ? { ...job, ...ofSeveral(trial, random) } : job;
  const kept = random.chance(0.3) ? { ...search, keepIdleMs: random.pick([500, 10_000, 300_000]) } : search;
  return random.chance(0.2)
    ? searchRun(storingCheckpoints(ran), { ...kept, keepCheckpoints: random.integer(0, 3) })
    : searchRun(ran, kept);
}

/** The same job; if it is a search, Optuna perhaps proposes its trials. */
export function perhapsByOptuna(spec: JobSpec, random: Random): JobSpec {
  const { search } = spec;
  return search === undefined || search.algorithm === "grid" || !random.chance(0.1)
    ? spec
    : { ...spec, search: { ...search, algorithm: "optuna" } };
}

/** The same job, with executors that store checkpoints. */
function storingCheckpoints(spec: JobSpec): JobSpec {
  const { carrier = { outputRequired: false, timeoutMs: 60_000 } } = spec;
  return { ...spec, carrier: { ...carrier, checkpoints: { localDir: "checkpoints", keep: 1 } } };
}

/** A search whose trials have several tasks each. */
function ofSeveral(trial: RoleSpec, random: Random): Pick<JobSpec, "roles" | "distributedMode" | "leadTask"> {
  const worker = { ...trial, instances: random.integer(1, 3), restartPolicy: "gang" as const };
  const roles = [
    ...(random.chance(0.3) ? [role("chief", 1, randomNeeds(random))] : []),
    worker,
    ...(worker.instances === 1 || random.chance(0.5) ? [role("ps", random.integer(1, 2), randomNeeds(random))] : []),
    ...(random.chance(0.2) ? [role("tensorboard", 1)] : []),
  ];
  const hasChief = roles.some(({ name }) => name === "chief");
  return {
    roles: hasChief ? roles.map((one) => (one.name === "worker" ? { ...one, chief: "none" } : one)) : roles,
    distributedMode: "gang",
    leadTask: hasChief ? "chief:0" : "worker:0",
  };
}

/** The same job, with some of its roles only on nodes with a label. */
export function onLabelledNodes(spec: JobSpec, nodeLabel: string, random: Random): JobSpec {
  return { ...spec, roles: spec.roles.map((one) => (random.chance(0.5) ? { ...one, nodeLabel } : one)) };
}

/** The last role may run on for a time after the others. */
function randomGroupLimit(roles: readonly RoleSpec[], random: Random): GroupLimit[] {
  const names = roles.map(({ name }) => name);
  const last = names.at(-1);
  const others = names.slice(0, -1);
  const limitMs = random.integer(1, 60) * 1000;
  return last === undefined || others.length === 0
    ? []
    : [{ role: last, group: "others", roles: others, limitMs, atLimit: "fail" }];
}

/**
 * The same job with programs that report steps and checkpoints, so that a hanging one is noticed and the results that they leave are waited
 * for.
 */
export function reportingSteps(spec: JobSpec, random: Random): JobSpec {
  const carrier = { output: { localDir: "results", dir: "hdfs:///results" }, outputRequired: true, timeoutMs: 60_000 };
  return { ...spec, carrier, timeouts: { ...spec.timeouts, progressMs: random.integer(20, 120) * 1000 } };
}

function randomNeeds(random: Random): Pick<RoleSpec, "resource" | "placement"> {
  return {
    resource: { memoryMiB: random.pick([256, 700, 1024, 2048]), vcores: random.integer(1, 2), others: {} },
    placement: random.pick(["any", "any", "pack", "spread"]),
  };
}
