import { TonyError } from "../errors.ts";
import { errorMessage } from "../hadoop/errors.ts";
import type { Resource } from "../hadoop/yarn/records.ts";
import { keys } from "./keys.ts";
import { arrayOf, bool, count, literal, object, recordOf, type Shape, ShapeError, string } from "./shape.ts";
import type {
  AmSpec,
  CarrierSpec,
  FailureSpec,
  JobSpec,
  LogSpec,
  PortRange,
  ResourceToLocalize,
  RoleSpec,
  Timeouts,
} from "./spec.ts";

/** The spec that came with a job cannot be used (`JOB_SPEC_INVALID`): it is damaged, or of another version of tony-ts. */
export class JobSpecError extends TonyError {
  override readonly name = "JobSpecError";

  constructor(message: string, cause?: unknown) {
    super(message, { code: "JOB_SPEC_INVALID", cause });
  }
}

/** Reads a spec from JSON text, or from its parsed value. @throws JobSpecError */
export function parseJobSpec(json: unknown): JobSpec {
  const value = typeof json === "string" ? parseJson(json) : json;
  try {
    return jobSpec(value, "");
  } catch (error) {
    if (error instanceof ShapeError) throw new JobSpecError(`the job's spec is not usable: ${error.message}`, error);
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new JobSpecError(`the job's spec is not JSON: ${errorMessage(error)}`, error);
  }
}

const resource: Shape<Resource> = object({
  required: { memoryMiB: count, vcores: count, others: recordOf(count) },
  optional: {},
});

const resourcesToLocalize = arrayOf<ResourceToLocalize>(
  object({
    required: { source: string, name: string, as: literal("file", "archive", "working-directory") },
    optional: {},
  }),
);

const portRange: Shape<PortRange> = object({ required: { from: count, to: count }, optional: {} });

const am: Shape<AmSpec> = object({
  required: { resource, resources: resourcesToLocalize },
  optional: { nodeLabel: string, maxAttempts: count },
});

const role: Shape<RoleSpec> = object({
  required: {
    name: string,
    instances: count,
    resource,
    placement: literal(...keys["tony.{role}.placement"].type.words),
    command: string,
    environment: recordOf(string),
    tracking: literal("tracked", "untracked", "sidecar"),
    stopOnFailure: bool,
    chief: literal("all", "first", "none"),
    restartPolicy: literal(...keys["tony.{role}.restart-policy"].type.words),
    reusePort: bool,
    resources: resourcesToLocalize,
  },
  optional: { nodeLabel: string },
});

const failure: Shape<FailureSpec> = object({
  required: {
    onWorkerFailure: literal("fail", "tolerate"),
    budgets: object({ required: { program: count, infrastructure: count }, optional: {} }),
    backOff: object({ required: { initialMs: count, maxMs: count }, optional: {} }),
    blame: object({ required: { container: count, node: count, job: count }, optional: {} }),
    outputLines: count,
  },
  optional: {},
});

const timeouts: Shape<Timeouts> = object({
  required: {
    gangHoldMs: count,
    launchMs: count,
    heartbeatIntervalMs: count,
    heartbeatExpiryMs: count,
    massSilenceMs: count,
    orphanMs: count,
    isolationMs: count,
    verdictMs: count,
    stopGraceMs: count,
    afterChiefMs: count,
    metricsIntervalMs: count,
  },
  optional: {
    applicationMs: count,
    startupMs: count,
    allocationMs: count,
    registrationMs: count,
    executionMs: count,
    progressMs: count,
  },
});

const carrier: Shape<CarrierSpec> = object({
  required: { timeoutMs: count },
  optional: {
    checkpoints: object({ required: { localDir: string, keep: count }, optional: {} }),
    output: object({ required: { localDir: string, dir: string }, optional: {} }),
    bytesPerSecond: count,
  },
});

const logs: Shape<LogSpec> = object({
  required: { level: literal(...keys["tony.am.log-level"].type.words) },
  optional: {},
});

const jobSpec: Shape<JobSpec> = object({
  required: {
    specVersion: literal(1),
    name: string,
    applicationType: string,
    tags: arrayOf(string),
    queue: string,
    framework: literal(...keys["tony.application.framework"].type.words),
    distributedMode: literal(...keys["tony.application.distributed-mode"].type.words),
    am,
    roles: arrayOf(role),
    leadTask: string,
    tensorBoardTask: string,
    resources: resourcesToLocalize,
    containerEnvironment: recordOf(string),
    failure,
    timeouts,
    preemption: object({
      required: { signal: literal(...keys["tony.task.preemption-signal"].type.words) },
      optional: {},
    }),
    ports: object({ required: {}, optional: { am: portRange, task: portRange } }),
    history: object({ required: {}, optional: { location: string } }),
    logs,
    sources: recordOf(string),
  },
  optional: { priority: count, nodeLabel: string, sidecarTensorBoardLogDir: string, checkpointDir: string, carrier },
});
