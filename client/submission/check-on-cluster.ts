import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { fitJob, type JobText } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import type { VirtualMemoryCheck } from "../../src/job/build/virtual-memory.ts";
import { hasErrors, type Problem, refusedJob } from "../../src/job/problem.ts";
import type { Settings } from "../../src/job/settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { clearTextKey, clearTextProblems, keytabProblems } from "../cluster/clear-text.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { checkAgainstCluster, withQueueLabel } from "../cluster/cluster-checks.ts";
import { askSubmissionFacts, type SubmissionFacts } from "../cluster/cluster-facts.ts";
import { withGivenSizes } from "../cluster/given-sizes.ts";
import { namedRuntimes, trustedOwners } from "../cluster/site-settings.ts";
import { configuredMaximum } from "../cluster/size-checks.ts";
import { chooseRuntime, type RuntimeChoice, versionOf } from "../shipping/runtime.ts";
import { requireTrustedFolders } from "../staging/folder-trust.ts";
import { stagingRoot } from "../staging/staging-folder.ts";
import type { OfflineCheck } from "./check-offline.ts";
import { withClusterFiles } from "./cluster-files.ts";
import { type FeedInputs, findFeedInputs } from "./feed-inputs.ts";
import { withFolderAddresses } from "./folder-addresses.ts";
import { withWholeCheckpoint } from "./resume-check.ts";
import { type ShippedKeytab, shippedKeytab } from "./shipped-keytab.ts";

/** A job without errors, as far as that can be known before the submission. */
export interface CheckedOnCluster {
  readonly spec: JobSpec;
  readonly facts: SubmissionFacts;
  /** The folder of the staging folders. */
  readonly root: LocatedPath;
  readonly runtime: RuntimeChoice;
  readonly keytab: ShippedKeytab | undefined;
  readonly feeds: FeedInputs["feeds"];
  /** Warnings. */
  readonly problems: readonly Problem[];
}

/**
 * All that can be asked of the cluster about a job. Nothing is started or written.
 * @throws UserError with everything that the cluster would refuse
 */
export async function checkOnCluster(text: JobText, draft: OfflineCheck, cluster: Cluster): Promise<CheckedOnCluster> {
  const runtime = await runtimeChoice(text.settings);
  const keytab = await shippedKeytab(text.settings, cluster);
  const [facts, root] = await Promise.all([
    askSubmissionFacts(cluster.resourceManager, draft.spec),
    trustedStagingRoot(text.settings, cluster),
  ]);
  const { spec: fitted, problems } = fitJob(text, draft.spec, draft.problems, {
    resourceTypes: facts.resourceTypes,
    clusterExpiryMs: clusterExpiryMs(cluster),
    ...(await virtualMemory(cluster, runtime)),
  });
  if (fitted === undefined) throw refusedJob(problems);
  const { classPath } = text.submission;
  const sized = withGivenSizes(fitted, cluster.configuration, facts.maximum);
  const addressed = await withFolderAddresses(withQueueLabel(sized, facts.queue), cluster.fileSystems, {
    root,
    stagingDir: readSetting(text.settings, "tony.staging-dir"),
    cacheDir: readSetting(text.settings, "tony.cache.dir"),
  });
  const placed = await withWholeCheckpoint(addressed, cluster.fileSystems, cluster.tell);
  const { spec, problems: ofFiles } = await withClusterFiles(placed, classPath, cluster.fileSystems);
  const { feeds, problems: ofFeeds } = await findFeedInputs(spec, cluster.fileSystems);
  const found = [
    ...ofFeeds,
    ...checkAgainstCluster(spec, { ...facts, configured: configuredMaximum(cluster.configuration) }),
    ...(cluster.isSecured ? clearTextProblems(cluster.configuration, acceptsClearText(text.settings)) : []),
    ...(keytab === undefined ? [] : keytabProblems(cluster, acceptsClearText(text.settings))),
  ];
  if (hasErrors(found)) throw refusedJob(found);
  return { spec, facts, root, runtime, keytab, feeds, problems: [...problems, ...ofFiles, ...found] };
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

async function runtimeChoice(settings: Settings): Promise<RuntimeChoice> {
  const setting = readSetting(settings, "tony.node.binary");
  const writtenAt = settings.get("tony.node.binary")?.at;
  const running = process.execPath;
  return await chooseRuntime({ setting, writtenAt, running, byArchitecture: namedRuntimes(settings) });
}

function acceptsClearText(settings: Settings): boolean {
  return readSetting(settings, clearTextKey) === true;
}

/** How long the cluster waits for a silent AM or node. */
function clusterExpiryMs({ configuration }: Cluster): number {
  const keys = ["yarn.am.liveness-monitor.expiry-interval-ms", "yarn.nm.liveness-monitor.expiry-interval-ms"];
  return Math.max(...keys.map((key) => configuration.getDurationMs(key, "ms", 600_000)));
}

/** As far as this machine's copy of the nodes' configuration says. */
async function virtualMemory(
  { configuration }: Cluster,
  runtime: RuntimeChoice,
): Promise<{ readonly virtualMemory?: VirtualMemoryCheck }> {
  if (!configuration.getBoolean("yarn.nodemanager.vmem-check-enabled", true)) return {};
  const ratio = Number(configuration.get("yarn.nodemanager.vmem-pmem-ratio"));
  const containerStepMiB = configuration.getInteger("yarn.scheduler.minimum-allocation-mb", 1024);
  if (!(ratio > 0 && containerStepMiB > 0)) return {};
  return { virtualMemory: { ratio, containerStepMiB, nodeVersion: await versionOf(runtime, process.execPath) } };
}
