import type { SubmissionContext } from "../../src/hadoop/yarn/submission.ts";
import { CLOSED_LOGS, UNFINISHED } from "../../src/job/closed-log.ts";
import { aclsOf, type ContainerLaunch, launchContext } from "../../src/job/launch/launch-context.ts";
import { escapeEnvironment, expandableEnvironment } from "../../src/job/launch/launch-script-text.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { type StoredJob, storedJobEnvironment } from "../../src/job/stored/stored-job.ts";

/** Bounded by the ResourceManager's own maximum: this asks for all of it. */
const allAttempts = 1_000;
/** Attempts of an AM that failed longer ago do not count. */
const attemptFailuresValidityIntervalMs = 600_000;
/** YARN's limit; a longer type is refused. */
const longestType = 20;

/**
 * What YARN is told of a job. Containers outlive an attempt of the AM, and it gets as many attempts as the cluster allows. Logs are
 * gathered when a container has ended. Those that were closed may be gathered before: a node removes what it has stored.
 */
export function submissionContext(id: string, spec: JobSpec, launch: ContainerLaunch): SubmissionContext {
  return {
    id,
    name: spec.name,
    queue: spec.queue,
    type: spec.applicationType.slice(0, longestType),
    tags: spec.tags,
    ...(spec.priority === undefined ? {} : { priority: spec.priority }),
    masterLaunch: launchContext({ ...launch, acls: aclsOf(spec) }),
    masterResource: spec.am.resource,
    ...(spec.am.nodeLabel === undefined ? {} : { masterNodeLabel: spec.am.nodeLabel }),
    ...(spec.nodeLabel === undefined ? {} : { nodeLabelExpression: spec.nodeLabel }),
    maxAppAttempts: spec.am.maxAttempts ?? allAttempts,
    attemptFailuresValidityIntervalMs,
    keepContainers: true,
    logAggregation: {
      include: ".*",
      exclude: `${UNFINISHED.replace(".", "\\.")}$`,
      rolledInclude: CLOSED_LOGS,
      // YARN's own default excludes everything.
      rolledExclude: "",
    },
  };
}

/** What the AM's container is told: the job's own variables, and where its job is. */
export function masterEnvironment(spec: JobSpec, stored: StoredJob): Record<string, string> {
  return {
    ...expandableEnvironment(spec.containerEnvironment),
    ...spec.am.image,
    ...escapeEnvironment(storedJobEnvironment(stored)),
  };
}
