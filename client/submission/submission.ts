import { type ClientAccess, clientAccess, clientAccessFile, masterSecrets } from "../../src/api/identity.ts";
import { makeIdentity } from "../../src/api/make-identity.ts";
import { ExitCode, UserError } from "../../src/errors.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { VirtualMemoryCheck } from "../../src/job/build-roles.ts";
import { formatClusterNodes } from "../../src/job/cluster-nodes.ts";
import { handedToMaster } from "../../src/job/handed-settings.ts";
import type { JobFile } from "../../src/job/job-file.ts";
import { launchCommand } from "../../src/job/launch-command.ts";
import { checkJob, type JobText } from "../../src/job/load-job.ts";
import { formatProblem, hasErrors, type Problem, refusedJob } from "../../src/job/problem.ts";
import { readSetting } from "../../src/job/read-settings.ts";
import type { Settings } from "../../src/job/settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { stagingLocation } from "../../src/job/staging-location.ts";
import { jobFileName, nodesFileName, storedJob } from "../../src/job/stored-job.ts";
import { buildId } from "../../src/programs.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { checkAgainstCluster, withQueueLabel } from "../cluster/cluster-checks.ts";
import { askSubmissionFacts, type SubmissionFacts } from "../cluster/cluster-facts.ts";
import { namedRuntimes } from "../cluster/site-settings.ts";
import { configuredMaximum } from "../cluster/size-checks.ts";
import type { ClientContext } from "../context.ts";
import { chooseRuntime, type ProvidedRuntime, provideRuntime } from "../shipping/runtime.ts";
import { StagingFolder, stagingRoot } from "../staging/staging-folder.ts";
import { thisSubmitter } from "../staging/submitter.ts";
import { jobContextOf } from "./check-offline.ts";
import { withFolderAddresses } from "./folder-addresses.ts";
import { handIn, submissionUnknown } from "./hand-in.ts";
import { type Shipped, shipFiles, type UploadListener } from "./job-shipping.ts";
import { preparedPrograms } from "./prepared-programs.ts";
import { masterEnvironment, submissionContext } from "./submission-context.ts";

/** A job that the ResourceManager has taken. */
export interface Submitted {
  readonly id: string;
  readonly spec: JobSpec;
  readonly access: ClientAccess;
  /** When the ResourceManager took it. */
  readonly atMs: number;
}

/** Is told of a submission as it goes on. */
export interface SubmissionListener extends UploadListener {
  readonly named: (id: string, spec: JobSpec) => void;
}

/**
 * Submits a job to a cluster. Everything that can be known to be wrong is known before the first byte is uploaded; the staging folder
 * is made last and removed again when anything fails after it, so that a client that dies leaves at most that folder, which the user's
 * next command sweeps.
 *
 * @param draft the same job as `checkOffline` gave it
 * @throws UserError (`NOT_SUBMITTED`) when `stop` fired before the ResourceManager was told: nothing is left then
 */
export async function submitToYarn(
  text: JobText,
  draft: JobSpec,
  context: ClientContext,
  cluster: Cluster,
  listener: SubmissionListener,
  stop: AbortSignal,
): Promise<Submitted> {
  const { settings } = text;
  const checked = await untilStopped(checkThere(text, draft, context, cluster), stop);
  if (checked === undefined) throw notSubmitted();
  const { spec, facts, root, runtime, problems } = checked;
  for (const problem of problems) context.output.problem(formatProblem(problem));

  const { id } = facts.application;
  listener.named(id, spec);
  const shipped = await shipFiles({ text, spec, cluster, runtime, root }, context, listener, stop);
  if (shipped === undefined || stop.aborted) throw notSubmitted();
  const identity = makeIdentity(id, context.now());
  const staging = await StagingFolder.create(root, id, cluster.user.name);
  try {
    const jobFile = jobFileOf({ id, spec, facts, staging, shipped, cluster, gateway: nodesGateway(settings) });
    const job = Buffer.from(JSON.stringify(jobFile));
    const nodes = Buffer.from(formatClusterNodes(facts.nodes));
    await staging.writeAll({
      [jobFileName]: job,
      [nodesFileName]: nodes,
      [clientAccessFile]: Buffer.from(JSON.stringify({ ...clientAccess(identity), submitter: thisSubmitter() })),
    });
    const launch = {
      files: shipped.master,
      commands: [launchCommand({ node: jobFile.node, bundle: "am.cjs" })],
      environment: masterEnvironment(spec, storedJob(stagingLocation(jobFile), job, nodes)),
      credentials: writeTokenFile({ tokens: [], secrets: masterSecrets(identity) }),
    };
    if (stop.aborted) throw notSubmitted();
    await handIn(submissionContext(id, spec, launch), {
      resourceManager: cluster.resourceManager,
      output: context.output,
      stop,
      giveUpAfterMs: cluster.patience.giveUpAfterMs,
      askBriefly: () => cluster.askBriefly(),
    });
  } catch (error) {
    // An application that may have been taken needs its folder; if it was not, a later command sweeps it.
    if (errorCode(error) !== submissionUnknown) await staging.remove().catch(() => undefined);
    throw stop.aborted && errorCode(error) !== submissionUnknown ? notSubmitted() : error;
  }
  return { id, spec, access: clientAccess(identity), atMs: context.now() };
}

/** A job that nothing is wrong with, as far as can be known before it is handed in. */
export interface CheckedThere {
  readonly spec: JobSpec;
  readonly facts: SubmissionFacts;
  /** Where the staging folders are. */
  readonly root: LocatedPath;
  readonly runtime: ProvidedRuntime;
  /** Warnings. */
  readonly problems: readonly Problem[];
}

/** All that the cluster can be asked about a job. @throws UserError with all that it would refuse */
export async function checkThere(
  text: JobText,
  draft: JobSpec,
  context: ClientContext,
  cluster: Cluster,
): Promise<CheckedThere> {
  const runtime = await runtimeOf(text.settings, context);
  const [facts, root] = await Promise.all([
    askSubmissionFacts(cluster.resourceManager, draft.queue),
    stagingRoot(cluster.fileSystems, { stagingDir: readSetting(text.settings, "tony.staging-dir") }),
  ]);
  const { spec: asWritten, problems } = checkJob(text, {
    ...jobContextOf(context),
    resourceTypes: facts.resourceTypes,
    clusterExpiryMs: clusterExpiryMs(cluster),
    ...virtualMemory(cluster),
  });
  if (asWritten === undefined) throw refusedJob(problems);
  const spec = await withFolderAddresses(withQueueLabel(asWritten, facts.queue), cluster.fileSystems);
  const found = checkAgainstCluster(spec, { ...facts, configured: configuredMaximum(cluster.configuration) });
  if (hasErrors(found)) throw refusedJob(found);
  return { spec, facts, root, runtime, problems: [...problems, ...found] };
}

/** What comes of the work, or undefined as soon as `stop` fires: the work may then end as it likes. */
async function untilStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T | undefined> {
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

function notSubmitted(): UserError {
  return new UserError("Nothing was submitted, and nothing is left on the cluster", {
    code: "NOT_SUBMITTED",
    exitCode: ExitCode.killed,
  });
}

async function runtimeOf(settings: JobText["settings"], context: ClientContext): Promise<ProvidedRuntime> {
  const setting = readSetting(settings, "tony.node.binary");
  const writtenAt = settings.get("tony.node.binary")?.at;
  const running = process.execPath;
  const choice = await chooseRuntime({ setting, writtenAt, running, byArchitecture: namedRuntimes(settings) });
  return { ...provideRuntime(choice), codeCaches: await preparedPrograms(choice, context) };
}

function jobFileOf(parts: {
  readonly id: string;
  readonly spec: JobSpec;
  readonly facts: SubmissionFacts;
  readonly staging: StagingFolder;
  readonly shipped: Shipped;
  readonly cluster: Cluster;
  readonly gateway: string | undefined;
}): JobFile {
  const { id, spec, facts, staging, shipped, cluster, gateway } = parts;
  return {
    jobFileVersion: 1,
    build: buildId(),
    applicationId: id,
    user: cluster.user.name,
    spec,
    stagingUrl: staging.url,
    files: { master: shipped.master, all: shipped.all, byRole: shipped.byRole },
    node: shipped.node,
    hadoop: handedToMaster(cluster.configuration.values()),
    ...(gateway === undefined ? {} : { hdfsEndpoint: gateway }),
    sharedLabels: facts.sharedLabels,
    resourceTypes: facts.resourceTypes,
  };
}

/** The gateway in front of the default file system that the job's own processes use; undefined: they ask the NameNode. */
function nodesGateway(settings: Settings): string | undefined {
  const endpoint = readSetting(settings, "tony.hdfs.node-endpoint") ?? readSetting(settings, "tony.hdfs.endpoint");
  return endpoint === "namenode" ? undefined : endpoint;
}

/** How long the cluster waits for a silent AM or node. */
function clusterExpiryMs({ configuration }: Cluster): number {
  const keys = ["yarn.am.liveness-monitor.expiry-interval-ms", "yarn.nm.liveness-monitor.expiry-interval-ms"];
  return Math.max(...keys.map((key) => configuration.getDurationMs(key, "ms", 600_000)));
}

/** As far as this machine's copy of the nodes' configuration tells. */
function virtualMemory({ configuration }: Cluster): { readonly virtualMemory?: VirtualMemoryCheck } {
  if (!configuration.getBoolean("yarn.nodemanager.vmem-check-enabled", true)) return {};
  const ratio = Number(configuration.get("yarn.nodemanager.vmem-pmem-ratio"));
  const containerStepMiB = configuration.getInteger("yarn.scheduler.minimum-allocation-mb", 1024);
  return ratio > 0 && containerStepMiB > 0 ? { virtualMemory: { ratio, containerStepMiB } } : {};
}
