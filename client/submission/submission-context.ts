import type { SubmissionContext } from "../../src/hadoop/yarn/submission.ts";
import { escapeForLaunchScript } from "../../src/job/launch-command.ts";
import { type ContainerLaunch, launchContext } from "../../src/job/launch-context.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { type StoredJob, storedJobEnvironment } from "../../src/job/stored-job.ts";

/** Bounded by the ResourceManager's own maximum: this asks for all of it. */
const allAttempts = 1_000;
/** Attempts of an AM that failed longer ago do not count. */
const attemptFailuresValidityIntervalMs = 600_000;
/** YARN's limit; a longer type is refused. */
const longestType = 20;

/**
 * What YARN is told of a job. Containers outlive an attempt of the AM, and it gets as many attempts as the cluster allows. Logs are
 * gathered when a container has ended: gathering earlier is for files that are rotated, and takes away those that are written to.
 */
export function submissionContext(id: string, spec: JobSpec, launch: ContainerLaunch): SubmissionContext {
  return {
    id,
    name: spec.name,
    queue: spec.queue,
    type: spec.applicationType.slice(0, longestType),
    tags: spec.tags,
    ...(spec.priority === undefined ? {} : { priority: spec.priority }),
    masterLaunch: launchContext(launch),
    masterResource: spec.am.resource,
    ...(spec.am.nodeLabel === undefined ? {} : { masterNodeLabel: spec.am.nodeLabel }),
    ...(spec.nodeLabel === undefined ? {} : { nodeLabelExpression: spec.nodeLabel }),
    maxAppAttempts: spec.am.maxAttempts ?? allAttempts,
    attemptFailuresValidityIntervalMs,
    keepContainers: true,
    logAggregation: { include: ".*" },
  };
}

/** What the AM's container is told: the job's own variables, and where its job is. */
export function masterEnvironment(spec: JobSpec, stored: StoredJob): Record<string, string> {
  const own = Object.entries(storedJobEnvironment(stored));
  const escaped = own.map(([name, value]) => [name, escapeForLaunchScript(value)]);
  return { ...spec.containerEnvironment, ...Object.fromEntries(escaped) };
}
