import { roundingsOf } from "../../src/advice/roundings.ts";
import {
  type ApplicationIdentity,
  type ClientAccess,
  clientAccess,
  clientAccessFile,
  formatClientAccess,
  makeIdentity,
  pageKey,
} from "../../src/api/identity.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import { formatClusterNodes } from "../../src/job/cluster-nodes.ts";
import { formatProblem, type Problem } from "../../src/job/problem.ts";
import type { Settings } from "../../src/job/settings.ts";
import { type JobSpec, opensByKey } from "../../src/job/spec.ts";
import { handedToMaster } from "../../src/job/stored/handed-settings.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { keytabFileName } from "../../src/job/stored/job-keytab.ts";
import { stagingLocation } from "../../src/job/stored/staging-location.ts";
import { jobFileName, nodesFileName, storedJob } from "../../src/job/stored/stored-job.ts";
import { buildId } from "../../src/programs.ts";
import { usedFileSystems } from "../../src/tokens/token-issuers.ts";
import { addressProblems } from "../cluster/address-checks.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { queueShares, type SubmissionFacts } from "../cluster/cluster-facts.ts";
import type { ClientContext } from "../context.ts";
import { StagingFolder } from "../staging/staging-folder.ts";
import { thisSubmitter } from "../staging/submitter.ts";
import { jobTokens } from "../tokens/job-tokens.ts";
import type { OfflineCheck } from "./check-offline.ts";
import { checkOnCluster } from "./check-on-cluster.ts";
import type { FeedInputs } from "./feed-inputs.ts";
import { type Shipped, shipFiles, type UploadListener } from "./job-shipping.ts";
import { keptSettings } from "./kept-settings.ts";
import { notSubmitted } from "./not-submitted.ts";
import { preparedRuntime } from "./prepared-runtime.ts";
import type { ShippedKeytab } from "./shipped-keytab.ts";
import { masterLaunch, submissionContext } from "./submission-context.ts";
import { submissionUnknown, submitApplication } from "./submit-application.ts";

/** A job that the ResourceManager has accepted. */
export interface Submitted {
  readonly id: string;
  readonly spec: JobSpec;
  readonly access: ClientAccess;
  /** When the ResourceManager accepted it. */
  readonly atMs: number;
}

/** Receives the progress of a submission. */
export interface SubmissionListener extends UploadListener {
  readonly named: (id: string, spec: JobSpec) => void;
}

/**
 * Submits a job to a cluster. All checks precede the first uploaded byte; the staging folder is created last, and removed again when
 * anything fails after that, so that a client that dies leaves at most that folder, which the user's next command sweeps.
 *
 * @throws UserError (`NOT_SUBMITTED`) when `stop` was aborted before the ResourceManager was told: nothing is left then
 */
export async function submitToCluster(
  text: JobText,
  draft: OfflineCheck,
  context: ClientContext,
  cluster: Cluster,
  listener: SubmissionListener,
  stop: AbortSignal,
): Promise<Submitted> {
  const { settings } = text;
  const tell = (problems: readonly Problem[]) => {
    for (const problem of problems) context.output.problem(formatProblem(problem));
  };
  const ofAddresses = addressProblems(cluster);
  const checked = await untilStopped(checkOnCluster(text, draft, cluster), stop);
  if (checked === undefined) throw notSubmitted("the cluster");
  const { spec, facts, root, keytab, feeds } = checked;
  tell(checked.problems);
  // Where no ResourceManager answers, these findings are all there is to say. Nothing waits for a silent network.
  void ofAddresses.then(tell);
  const runtime = await untilStopped(preparedRuntime(checked.runtime, context), stop);
  if (runtime === undefined) throw notSubmitted("the cluster");

  const { id } = facts.application;
  listener.named(id, spec);
  const shipped = await shipFiles({ text, spec, cluster, runtime, root, keytab }, context, listener, stop);
  if (shipped === undefined || stop.aborted) throw notSubmitted("the cluster");
  const identity = makeIdentity(id);
  const gateway = nodesGateway(settings);
  const delegated = await jobTokens(cluster, usedFileSystems(spec, shipped, root.fileSystem.uri, gateway));
  if (delegated.remark !== undefined) listener.uploaded(delegated.remark);
  const staging = await StagingFolder.create(root, id, cluster.user);
  try {
    const jobFile = jobFileOf({ id, spec, facts, staging, shipped, cluster, gateway, keytab, feeds });
    const job = Buffer.from(JSON.stringify(jobFile));
    const nodes = Buffer.from(formatClusterNodes([...facts.nodes, ...facts.awayNodes]));
    await staging.writeAll({
      [jobFileName]: job,
      [nodesFileName]: nodes,
      ...(keytab && { [keytabFileName]: keytab.content }),
      ...keptSettings(settings, spec),
      [clientAccessFile]: Buffer.from(
        JSON.stringify({ ...laterAccess(cluster, identity, spec), submitter: thisSubmitter() }),
      ),
    });
    const stored = storedJob(stagingLocation(jobFile), job, nodes);
    const launch = masterLaunch({ jobFile, stored, tokens: delegated, secrets: draft.secrets, identity });
    if (stop.aborted) throw notSubmitted("the cluster");
    await submitApplication(submissionContext(id, spec, launch, delegated), {
      resourceManager: cluster.resourceManager,
      output: context.output,
      stop,
      giveUpAfterMs: cluster.patience.giveUpAfterMs,
      askBriefly: () => cluster.askBriefly(),
    });
  } catch (error) {
    // An application that may have been accepted needs its folder; if it was not, a later command sweeps it.
    if (errorCode(error) !== submissionUnknown) await staging.remove().catch(() => undefined);
    throw stop.aborted && errorCode(error) !== submissionUnknown ? notSubmitted("the cluster") : error;
  }
  return { id, spec, access: clientAccess(identity), atMs: context.now() };
}

/**
 * On a secured cluster later clients use the ResourceManager's tokens, and the job writes no secret to a file except the key of its page,
 * which opens nothing else.
 */
function laterAccess({ isSecured }: Cluster, identity: ApplicationIdentity, { am }: JobSpec): object {
  const access = clientAccess(identity);
  return {
    ...(isSecured ? {} : formatClientAccess(access)),
    ...(opensByKey(am, isSecured) ? { pageKey: pageKey(access) } : {}),
  };
}

/** The result of the work, or undefined as soon as `stop` is aborted: the work's outcome is ignored then. */
async function untilStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T | undefined> {
  work.catch(() => undefined);
  if (stop.aborted) return undefined;
  let stopped: () => void = () => undefined;
  const stopping = new Promise<undefined>((resolve) => {
    stopped = () => resolve(undefined);
    stop.addEventListener("abort", stopped);
  });
  try {
    return await Promise.race([work, stopping]);
  } finally {
    stop.removeEventListener("abort", stopped);
  }
}

function jobFileOf(parts: {
  readonly id: string;
  readonly spec: JobSpec;
  readonly facts: SubmissionFacts;
  readonly staging: StagingFolder;
  readonly shipped: Shipped;
  readonly cluster: Cluster;
  readonly gateway: string | undefined;
  readonly keytab: ShippedKeytab | undefined;
  readonly feeds: FeedInputs["feeds"];
}): JobFile {
  const { id, spec, facts, staging, shipped, cluster, gateway, keytab, feeds } = parts;
  return {
    jobFileVersion: 1,
    build: buildId(),
    applicationId: id,
    user: cluster.user,
    spec,
    stagingUrl: staging.url,
    files: { master: shipped.master, all: shipped.all, byRole: shipped.byRole },
    node: shipped.node,
    hadoop: handedToMaster(cluster.configuration.values()),
    ...(gateway === undefined ? {} : { hdfsEndpoint: gateway }),
    sharedLabels: facts.sharedLabels,
    ...queueShares(facts),
    resourceTypes: facts.resourceTypes,
    roundings: roundingsOf(cluster.configuration),
    ...(keytab && { keytab: keytab.keytab }),
    ...(Object.keys(feeds).length > 0 && { feeds }),
  };
}

/** The gateway in front of the default file system that the job's own processes use; undefined: they ask the NameNode. */
function nodesGateway(settings: Settings): string | undefined {
  const endpoint = readSetting(settings, "tony.hdfs.node-endpoint") ?? readSetting(settings, "tony.hdfs.endpoint");
  return endpoint === "namenode" ? undefined : endpoint;
}
