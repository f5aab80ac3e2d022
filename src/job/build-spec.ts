import { buildCarrier } from "./build-carrier.ts";
import { buildRoles, type ContainerFacts, readResource } from "./build-roles.ts";
import { checkKeys } from "./check-keys.ts";
import { checkProgramFiles } from "./check-program-files.ts";
import { JobReader } from "./job-reader.ts";
import { findKey, keyFor } from "./keys.ts";
import { checkLimits } from "./limits.ts";
import { hasErrors, type Problem } from "./problem.ts";
import type { LookUpPath } from "./resource-strings.ts";
import type { Settings } from "./settings.ts";
import type { AmSpec, CarrierSpec, FailureSpec, JobSpec, ResourceToLocalize, RoleSpec, Timeouts } from "./spec.ts";
import { shipOption } from "./submission.ts";
import { formatTaskId, type TaskId } from "./task.ts";

/** What the job's text is read against. */
export interface JobContext extends ContainerFacts {
  readonly workingDirectory: string;
  readonly lookUp: LookUpPath;
  /** Beside what keys name: `submissionSettings().ship`. */
  readonly ship?: readonly ResourceToLocalize[];
  /** The cluster's longest expiry of an ApplicationMaster or node; Hadoop's default is ten minutes. */
  readonly clusterExpiryMs?: number;
}

export interface CheckedJob {
  /** Absent when there are errors. */
  readonly spec?: JobSpec;
  readonly problems: readonly Problem[];
}

const TEN_MINUTES_MS = 600_000;
const ORPHAN_MARGIN_MS = 180_000;

/** Makes the spec of a job from its settings, with every check that needs no cluster; all that is wrong is said at once. */
export function buildJobSpec(settings: Settings, context: JobContext): CheckedJob {
  const reader = new JobReader(settings, context.workingDirectory, context.lookUp);
  const roles = buildRoles(reader, context);
  const am = buildAm(reader, context);
  const resources = [
    ...reader.resources("tony.containers.resources"),
    ...(context.ship ?? []).flatMap((resource) => reader.shipped(resource, shipOption(resource.as))),
  ];
  const keyProblems = checkKeys(settings);
  checkWhole(reader, roles, keyProblems);
  checkLimits(reader, roles);
  checkNames(reader, resources, am, roles);
  checkProgramFiles(reader, roles, resources);
  const carrier = buildCarrier(reader);
  const problems = [...keyProblems, ...reader.problems];
  if (hasErrors(problems)) return { problems };
  return { spec: assemble(reader, { roles, am, resources, carrier, ...context }), problems };
}

interface Parts extends JobContext {
  readonly roles: readonly RoleSpec[];
  readonly am: AmSpec;
  readonly resources: readonly ResourceToLocalize[];
  readonly carrier: CarrierSpec | undefined;
}

function assemble(reader: JobReader, { roles, am, resources, carrier, clusterExpiryMs }: Parts): JobSpec {
  const leadTask = leadTaskOf(roles);
  const historyLocation = reader.read("tony.history.location");
  return {
    specVersion: 1,
    name: reader.read("tony.application.name"),
    applicationType: reader.read("tony.application.type"),
    tags: reader.read("tony.application.tags"),
    queue: reader.read("tony.yarn.queue"),
    ...present({
      priority: reader.read("tony.application.priority"),
      nodeLabel: reader.read("tony.application.node-label"),
      sidecarTensorBoardLogDir: reader.read("tony.application.tensorboard-log-dir"),
      checkpointDir: reader.read("tony.application.checkpoint-dir"),
      carrier,
    }),
    framework: reader.read("tony.application.framework"),
    distributedMode: reader.read("tony.application.distributed-mode"),
    am,
    roles,
    leadTask,
    tensorBoardTask: roles.some(({ name }) => name === "tensorboard") ? formatTaskId("tensorboard", 0) : leadTask,
    resources,
    containerEnvironment: reader.read("tony.containers.envs") ?? {},
    failure: buildFailure(reader),
    timeouts: buildTimeouts(reader, clusterExpiryMs ?? TEN_MINUTES_MS),
    preemption: { signal: reader.read("tony.task.preemption-signal") },
    ports: present({ am: reader.read("tony.am.port-range"), task: reader.read("tony.task.port-range") }),
    history: present({ location: historyLocation === "/path/to/tony-history" ? undefined : historyLocation }),
    logs: { level: reader.read("tony.am.log-level") },
    sources: sourcesOf(reader.settings),
  };
}

function buildAm(reader: JobReader, containers: ContainerFacts): AmSpec {
  return {
    resource: readResource(reader, "am", containers),
    ...present({
      nodeLabel: reader.read("tony.am.node-label") ?? reader.read("tony.application.node-label"),
      maxAttempts: reader.read("tony.am.max-attempts"),
    }),
    resources: reader.resources("tony.am.resources"),
  };
}

function buildFailure(reader: JobReader): FailureSpec {
  return {
    onWorkerFailure: reader.read("tony.application.fail-on-worker-failure-enabled") === false ? "tolerate" : "fail",
    budgets: {
      program: reader.read("tony.am.retry-count"),
      infrastructure: reader.read("tony.failure.infrastructure-retries"),
    },
    backOff: { initialMs: reader.read("tony.failure.back-off"), maxMs: reader.read("tony.failure.max-back-off") },
    blame: {
      container: reader.read("tony.failure.blame.container"),
      node: reader.read("tony.failure.blame.node"),
      job: reader.read("tony.failure.blame.job"),
    },
    outputLines: reader.read("tony.task.executor.execution.error-message-max-depth"),
  };
}

function buildTimeouts(reader: JobReader, clusterExpiryMs: number): Timeouts {
  const heartbeatIntervalMs = reader.read("tony.task.heartbeat-interval-ms");
  return {
    ...present({
      applicationMs: reader.read("tony.application.timeout"),
      startupMs: reader.read("tony.am.startup-timeout"),
      allocationMs: reader.read("tony.container.allocation.timeout"),
      registrationMs: reader.read("tony.container.registration.timeout"),
      executionMs: reader.read("tony.task.executor.execution-timeout-ms"),
      progressMs: reader.read("tony.task.progress-timeout"),
    }),
    gangHoldMs: reader.read("tony.container.hold-timeout"),
    launchMs: reader.read("tony.container.launch-timeout"),
    heartbeatIntervalMs,
    heartbeatExpiryMs: heartbeatIntervalMs * reader.read("tony.task.max-missed-heartbeats"),
    massSilenceMs: reader.read("tony.task.mass-silence-timeout"),
    orphanMs: reader.read("tony.task.orphan-timeout") ?? Math.max(TEN_MINUTES_MS, clusterExpiryMs) + ORPHAN_MARGIN_MS,
    isolationMs: reader.read("tony.task.isolation-timeout"),
    verdictMs: reader.read("tony.failure.verdict-ms"),
    stopGraceMs: reader.read("tony.task.stop-grace"),
    afterChiefMs: reader.read("tony.application.after-chief-grace"),
    metricsIntervalMs: reader.read("tony.task.metrics-interval-ms"),
  };
}

/** `chief:0`, else `worker:0`, else the first task that is tracked, else the first. */
function leadTaskOf(roles: readonly RoleSpec[]): TaskId {
  const named = (name: string) => roles.find((role) => role.name === name);
  const lead = named("chief") ?? named("worker") ?? roles.find((role) => role.tracking === "tracked") ?? roles[0];
  return formatTaskId(lead?.name ?? "worker", 0);
}

/** What only the job as a whole shows. */
function checkWhole(reader: JobReader, roles: readonly RoleSpec[], keyProblems: readonly Problem[]): void {
  const framework = reader.read("tony.application.framework");
  if (framework === "pytorch" && reader.read("tony.application.distributed-mode") === "fcfs") {
    reader.warn("tony.application.distributed-mode", "= fcfs gives PyTorch no ranks and no master address; gang does");
  }
  if (roles.length === 0 && keyProblems.some(({ key, severity }) => severity === "error" && isInstances(key))) {
    return;
  }
  if (roles.length === 0) {
    reader.error(
      "tony.worker.instances",
      "or that of another role must be at least 1: a job without tasks (TonY's single-node mode) is not supported yet",
    );
  } else if (roles.every((role) => role.tracking !== "tracked")) {
    reader.error(
      "tony.application.untracked.jobtypes",
      "and tony.application.sidecar.jobtypes name every role, so that nothing would end the job: remove a role from them",
    );
  }
}

/** Whether the key makes a role: where its value cannot be read, that the job has none is no second mistake. */
function isInstances(key: string | undefined): boolean {
  return key !== undefined && findKey(key)?.name === "tony.{role}.instances";
}

/** Two files of one name cannot lie in one folder. */
function checkNames(
  reader: JobReader,
  resources: readonly ResourceToLocalize[],
  am: AmSpec,
  roles: readonly RoleSpec[],
): void {
  checkDistinct(reader, "tony.containers.resources", resources);
  checkDistinct(reader, "tony.am.resources", am.resources);
  for (const { name: role, resources: own } of roles) {
    if (own.length > 0) checkDistinct(reader, keyFor("tony.{role}.resources", { role }), [...resources, ...own]);
  }
}

function checkDistinct(reader: JobReader, key: string, resources: readonly ResourceToLocalize[]): void {
  const seen = new Map<string, string>();
  for (const { name, source } of resources) {
    const before = seen.get(name);
    if (before !== undefined && before !== source) {
      reader.error(key, `puts two things at ${name}: ${before} and ${source}; rename one: SOURCE::NAME`);
    }
    seen.set(name, source);
  }
}

function sourcesOf(settings: Settings): Record<string, string> {
  return Object.fromEntries([...settings.values()].map(({ key, at }) => [key, at]));
}

/** Leaves out what is undefined: in a spec, absent means off or unset. */
function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
