import {
  type ApplicationIdentity,
  type ClientAccess,
  clientAccess,
  clientAccessFile,
  formatClientAccess,
  makeIdentity,
  masterSecrets,
} from "../../src/api/identity.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { tonyFinalXml } from "../../src/history/tony/file-names.ts";
import { writeTonyFinalXml } from "../../src/history/tony/final-xml.ts";
import type { VirtualMemoryCheck } from "../../src/job/build/build-roles.ts";
import { checkJob, type JobText } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import { formatClusterNodes } from "../../src/job/cluster-nodes.ts";
import { launchCommand } from "../../src/job/launch/launch-command.ts";
import { programSecrets } from "../../src/job/launch/program-secrets.ts";
import { formatProblem, hasErrors, type Problem, refusedJob } from "../../src/job/problem.ts";
import type { Settings } from "../../src/job/settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { handedToMaster } from "../../src/job/stored/handed-settings.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import { keytabFileName } from "../../src/job/stored/job-keytab.ts";
import { stagingLocation } from "../../src/job/stored/staging-location.ts";
import { jobFileName, nodesFileName, storedJob } from "../../src/job/stored/stored-job.ts";
import { buildId } from "../../src/programs.ts";
import { usedFileSystems } from "../../src/tokens/token-issuers.ts";
import { clearTextKey, clearTextProblems, keytabProblems } from "../cluster/clear-text.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { checkAgainstCluster, withQueueLabel } from "../cluster/cluster-checks.ts";
import { askSubmissionFacts, queueShares, type SubmissionFacts } from "../cluster/cluster-facts.ts";
import { namedRuntimes, trustedOwners } from "../cluster/site-settings.ts";
import { configuredMaximum } from "../cluster/size-checks.ts";
import type { ClientContext } from "../context.ts";
import { chooseRuntime, type ProvidedRuntime, provideRuntime } from "../shipping/runtime.ts";
import { requireTrustedFolders } from "../staging/folder-trust.ts";
import { StagingFolder, stagingRoot } from "../staging/staging-folder.ts";
import { thisSubmitter } from "../staging/submitter.ts";
import { jobTokens } from "../tokens/job-tokens.ts";
import { jobContextOf } from "./check-offline.ts";
import { withClusterFiles } from "./cluster-files.ts";
import { withFolderAddresses } from "./folder-addresses.ts";
import { handIn, submissionUnknown } from "./hand-in.ts";
import { type Shipped, shipFiles, type UploadListener } from "./job-shipping.ts";
import { notSubmitted } from "./not-submitted.ts";
import { preparedPrograms } from "./prepared-programs.ts";
import { readSecrets } from "./read-secrets.ts";
import { type ShippedKeytab, shippedKeytab } from "./shipped-keytab.ts";
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
  const ofPrograms = programSecrets(readSecrets(settings, context));
  const checked = await untilStopped(checkThere(text, draft, context, cluster), stop);
  if (checked === undefined) throw notSubmitted("the cluster");
  const { spec, facts, root, runtime, keytab, problems } = checked;
  for (const problem of problems) context.output.problem(formatProblem(problem));

  const { id } = facts.application;
  listener.named(id, spec);
  const shipped = await shipFiles({ text, spec, cluster, runtime, root, keytab }, context, listener, stop);
  if (shipped === undefined || stop.aborted) throw notSubmitted("the cluster");
  const identity = makeIdentity(id);
  const delegated = await jobTokens(cluster, usedFileSystems(spec, shipped, root.fileSystem.uri));
  if (delegated.remark !== undefined) listener.uploaded(delegated.remark);
  const staging = await StagingFolder.create(root, id, cluster.user);
  try {
    const jobFile = jobFileOf({ id, spec, facts, staging, shipped, cluster, gateway: nodesGateway(settings), keytab });
    const job = Buffer.from(JSON.stringify(jobFile));
    const nodes = Buffer.from(formatClusterNodes(facts.nodes));
    await staging.writeAll({
      [jobFileName]: job,
      [nodesFileName]: nodes,
      ...(keytab && { [keytabFileName]: keytab.content }),
      ...historySettings(settings, spec),
      [clientAccessFile]: Buffer.from(
        JSON.stringify({ ...laterAccess(cluster, identity), submitter: thisSubmitter() }),
      ),
    });
    const { cancelTokensWhenComplete, tokensConf } = delegated;
    const { tokens, secrets } = delegated.credentials;
    const launch = {
      files: shipped.master,
      commands: [launchCommand({ node: jobFile.node, bundle: "am.cjs", files: shipped.master })],
      environment: masterEnvironment(spec, storedJob(stagingLocation(jobFile), job, nodes)),
      credentials: writeTokenFile({
        tokens,
        secrets: new Map([...secrets, ...ofPrograms, ...masterSecrets(identity)]),
      }),
      ...(tokensConf !== undefined && { tokensConf }),
    };
    if (stop.aborted) throw notSubmitted("the cluster");
    await handIn(
      { ...submissionContext(id, spec, launch), cancelTokensWhenComplete },
      {
        resourceManager: cluster.resourceManager,
        output: context.output,
        stop,
        giveUpAfterMs: cluster.patience.giveUpAfterMs,
        askBriefly: () => cluster.askBriefly(),
      },
    );
  } catch (error) {
    // An application that may have been taken needs its folder; if it was not, a later command sweeps it.
    if (errorCode(error) !== submissionUnknown) await staging.remove().catch(() => undefined);
    throw stop.aborted && errorCode(error) !== submissionUnknown ? notSubmitted("the cluster") : error;
  }
  return { id, spec, access: clientAccess(identity), atMs: context.now() };
}

/** What the ApplicationMaster puts beside the job's history. */
function historySettings(settings: Settings, spec: JobSpec): Record<string, Uint8Array> {
  if (spec.history.location === undefined) return {};
  return { [tonyFinalXml]: Buffer.from(writeTonyFinalXml(settings, spec)) };
}

/** On a secured cluster later clients come with the ResourceManager's tokens, and no secret of the job lies in a file. */
function laterAccess({ isSecured }: Cluster, identity: ApplicationIdentity): object {
  return isSecured ? {} : formatClientAccess(clientAccess(identity));
}

/** A job that nothing is wrong with, as far as can be known before it is handed in. */
export interface CheckedThere {
  readonly spec: JobSpec;
  readonly facts: SubmissionFacts;
  /** Where the staging folders are. */
  readonly root: LocatedPath;
  readonly runtime: ProvidedRuntime;
  readonly keytab: ShippedKeytab | undefined;
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
  const keytab = await shippedKeytab(text.settings, cluster);
  const [facts, root] = await Promise.all([
    askSubmissionFacts(cluster.resourceManager, draft),
    trustedStagingRoot(text.settings, cluster),
  ]);
  const { spec: asWritten, problems } = checkJob(text, {
    ...jobContextOf(context),
    resourceTypes: facts.resourceTypes,
    clusterExpiryMs: clusterExpiryMs(cluster),
    ...virtualMemory(cluster),
  });
  if (asWritten === undefined) throw refusedJob(problems);
  const { classPath } = text.submission;
  const placed = await withFolderAddresses(withQueueLabel(asWritten, facts.queue), cluster.fileSystems);
  const { spec, problems: ofFiles } = await withClusterFiles(placed, classPath, cluster.fileSystems);
  const found = [
    ...checkAgainstCluster(spec, { ...facts, configured: configuredMaximum(cluster.configuration) }),
    ...(cluster.isSecured ? clearTextProblems(cluster.configuration, acceptsClearText(text.settings)) : []),
    ...(keytab === undefined ? [] : keytabProblems(cluster, acceptsClearText(text.settings))),
  ];
  if (hasErrors(found)) throw refusedJob(found);
  return { spec, facts, root, runtime, keytab, problems: [...problems, ...ofFiles, ...found] };
}

async function trustedStagingRoot(
  settings: Settings,
  { fileSystems, user, isSecured, tell }: Cluster,
): Promise<LocatedPath> {
  const root = await stagingRoot(fileSystems, { stagingDir: readSetting(settings, "tony.staging-dir") });
  const trusted = { user, trustedOwners: trustedOwners(settings), believesNames: !isSecured };
  const warning = await requireTrustedFolders(root, trusted);
  if (warning !== undefined) tell(warning);
  return root;
}

/** What comes of the work, or undefined as soon as `stop` fires: the work may then end as it likes. */
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
  readonly keytab: ShippedKeytab | undefined;
}): JobFile {
  const { id, spec, facts, staging, shipped, cluster, gateway, keytab } = parts;
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
    ...(keytab && { keytab: keytab.keytab }),
  };
}

/** The gateway in front of the default file system that the job's own processes use; undefined: they ask the NameNode. */
function nodesGateway(settings: Settings): string | undefined {
  const endpoint = readSetting(settings, "tony.hdfs.node-endpoint") ?? readSetting(settings, "tony.hdfs.endpoint");
  return endpoint === "namenode" ? undefined : endpoint;
}

function acceptsClearText(settings: Settings): boolean {
  return readSetting(settings, clearTextKey) === true;
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
