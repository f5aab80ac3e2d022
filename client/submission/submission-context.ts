import { type ApplicationIdentity, masterSecrets } from "../../src/api/identity.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { SubmissionContext } from "../../src/hadoop/yarn/submission.ts";
import { CLOSED_LOGS, UNFINISHED } from "../../src/job/closed-log.ts";
import { launchCommand } from "../../src/job/launch/launch-command.ts";
import { aclsOf, type ContainerLaunch, launchContext } from "../../src/job/launch/launch-context.ts";
import { escapeEnvironment, expandableEnvironment } from "../../src/job/launch/launch-script-text.ts";
import { programSecrets } from "../../src/job/launch/program-secrets.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { type StoredJob, storedJobEnvironment } from "../../src/job/stored/stored-job.ts";
import type { JobTokens } from "../tokens/job-tokens.ts";

/** The ResourceManager limits this to its own maximum: the value asks for all of it. */
const allAttempts = 1_000;
/** Failed AM attempts that are older than this do not count. */
const attemptFailuresValidityIntervalMs = 600_000;
/** YARN's limit; it refuses longer types. */
const longestType = 20;

/**
 * What YARN is told about a job. Containers survive the end of an AM attempt, and the AM gets as many attempts as the cluster
 * allows. Logs are aggregated when a container has ended; closed log files may be aggregated earlier, and a node removes a file
 * once it is stored.
 */
export function submissionContext(
  id: string,
  spec: JobSpec,
  launch: ContainerLaunch,
  { cancelTokensWhenComplete }: Pick<JobTokens, "cancelTokensWhenComplete">,
): SubmissionContext {
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
    cancelTokensWhenComplete,
  };
}

/** The environment of the AM's container: the job's own variables, and where its job is. */
export function masterEnvironment(spec: JobSpec, stored: StoredJob): Record<string, string> {
  return {
    ...expandableEnvironment(spec.containerEnvironment),
    ...spec.am.image,
    ...escapeEnvironment(storedJobEnvironment(stored)),
  };
}

/** What an AM is started for, and what it is given alone. */
export interface MasterStart {
  readonly jobFile: JobFile;
  /** Where that is, and its hash. */
  readonly stored: StoredJob;
  readonly tokens: Pick<JobTokens, "credentials" | "tokensConf">;
  /** Of programs, by the names of their variables. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly identity: ApplicationIdentity;
}

/** How the AM's container is started. A job's own key comes last: credentials that were given may have that of another job. */
export function masterLaunch({ jobFile, stored, tokens, secrets, identity }: MasterStart): ContainerLaunch {
  const { credentials, tokensConf } = tokens;
  const files = jobFile.files.master;
  return {
    files,
    commands: [launchCommand({ node: jobFile.node, bundle: "am.cjs", files })],
    environment: masterEnvironment(jobFile.spec, stored),
    credentials: writeTokenFile({
      tokens: credentials.tokens,
      secrets: new Map([...credentials.secrets, ...programSecrets(secrets), ...masterSecrets(identity)]),
    }),
    ...(tokensConf !== undefined && { tokensConf }),
  };
}
