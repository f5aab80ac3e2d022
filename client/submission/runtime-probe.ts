import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { resourceManagerEndpoints } from "../../src/hadoop/yarn/endpoints.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import { launchCommand } from "../../src/job/launch/launch-command.ts";
import { launchContext } from "../../src/job/launch/launch-context.ts";
import { type ProbeReport, parseProbeReport, probeEnvironment } from "../../src/job/launch/probe.ts";
import { type DelayReason, delayWords } from "../../src/job/reasons/waits.ts";
import type { ImageVariables } from "../../src/job/spec.ts";
import type { ShippedFile } from "../../src/job/stored/job-file.ts";
import { localCacheFolder } from "../../src/local-cache.ts";
import { WaitingReasons } from "../applications/waiting-reasons.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Finding } from "../cluster/findings.ts";
import { schedulerWords } from "../cluster/hadoop-configuration.ts";
import type { SiteSettings } from "../cluster/site-settings.ts";
import type { ClientContext } from "../context.ts";
import { ContentCache } from "../shipping/cache.ts";
import { cacheOfJobs } from "../shipping/cache-access.ts";
import { HashMemo } from "../shipping/hash-memo.ts";
import { chooseRuntime, provideRuntime } from "../shipping/runtime.ts";
import { ship } from "../shipping/shipping.ts";
import { stagingRoot } from "../staging/staging-folder.ts";
import { jobTokens } from "../tokens/job-tokens.ts";
import { notSubmitted } from "./not-submitted.ts";
import { endOfProbe } from "./probe-end.ts";
import { programItem } from "./shipping-plan.ts";

const subject = "nodes";
const limitMs = 60_000;
/** A shorter wait is not worth a look. */
const shortestShownMs = 1_500;
/** The smallest memory that any AM of ours gets. */
const memoryMiB = 512;

/** Begins the last message of a program of ours that does not start. */
const ourWord = /^tony-ts: (?:the ApplicationMaster cannot start: )?/;

/** The files of the probe's container. */
export interface ProbeFiles {
  readonly files: readonly ShippedFile[];
  readonly node: string;
}

export interface ProbeOptions {
  readonly queue: string;
  /** The same image as for jobs; undefined: none. */
  readonly image: ImageVariables | undefined;
  readonly now: () => number;
  /** Aborted when the probe is to be ended; its reason says by which signal. */
  readonly stop: AbortSignal;
  /** Shows a person that the probe waits for its container, for how long so far, and why. */
  readonly tell: (waitedMs: number, reason: string) => void;
}

/**
 * Starts our own ApplicationMaster without a job, as an application that ends at once: the only proof that a node can load the runtime and
 * reach the ResourceManager. YARN lists it as SUCCEEDED if both work, and as FAILED if not.
 */
export async function probeRuntime(
  cluster: Cluster,
  { files, node }: ProbeFiles,
  { queue, image, now, stop, tell }: ProbeOptions,
): Promise<Finding> {
  const { resourceManager, configuration } = cluster;
  const { id } = await resourceManager.newApplication();
  // A node copies the files with these tokens on a secured cluster.
  const delegated = await jobTokens(
    cluster,
    files.map(({ url }) => ({ uri: url })),
  );
  const { tokensConf, cancelTokensWhenComplete } = delegated;
  if (stop.aborted) throw notSubmitted("the cluster");
  await resourceManager.submit({
    id,
    name: "tony-ts doctor",
    type: "TONY",
    queue,
    maxAppAttempts: 1,
    masterResource: { memoryMiB, vcores: 1, others: {} },
    masterLaunch: launchContext({
      files,
      environment: environmentOfProbe(configuration, image),
      commands: [launchCommand({ node, bundle: "am.cjs", files })],
      credentials: writeTokenFile(delegated.credentials),
      ...(tokensConf !== undefined && { tokensConf }),
    }),
    cancelTokensWhenComplete,
  });
  const waiting = (waitedMs: number, reason: DelayReason) => {
    if (waitedMs >= shortestShownMs) tell(waitedMs, delayWords(reason));
  };
  const reasons = new WaitingReasons(resourceManager, now, () => schedulerWords(configuration));
  const end = await endOfProbe(id, resourceManager, reasons, { limitMs, now, stop, waiting });
  return "late" in end ? lateFinding(end.late) : inImage(probeFinding(end.report, settingsOf(configuration)), image);
}

/** The finding about the nodes when the probe did not run in time. */
export function lateFinding(reason: DelayReason): Finding {
  const found = `the probe of ${memoryMiB} MiB did not run within ${limitMs / 1000} s: ${delayWords(reason)}`;
  switch (reason.code) {
    case "am-no-node":
    case "no-node-running":
      return { subject, state: "wrong", found, remedy: "start such a node, or choose another queue (--queue)" };
    case "am-being-started":
    case "am-starting":
    case "am-not-registered":
      return { subject, state: "remark", found, remedy: "try again: the node may be slow to copy the runtime" };
    default:
      return { subject, state: "remark", found, remedy: "try again when there is room" };
  }
}

/** The probe's ApplicationMaster runs as a job's does, in the same image. */
export function environmentOfProbe(
  configuration: Configuration,
  image: ImageVariables | undefined,
): Readonly<Record<string, string>> {
  return { ...probeEnvironment(resourceManagerEndpoints(configuration, "scheduler")), ...image };
}

/** The same finding with the name of the requested image: YARN does not say whether the node uses it. */
export function inImage(finding: Finding, image: ImageVariables | undefined): Finding {
  const [, name] = Object.entries(image ?? {}).find(([variable]) => variable.endsWith("_IMAGE")) ?? [];
  if (name === undefined) return finding;
  return { ...finding, found: `${finding.found}; asked for in the image ${name}` };
}

/** The settings by which nodes find the masters, each with its value and its place. */
export interface ProbeSettings {
  readonly fileSystem: string;
  readonly scheduler: string;
}

function settingsOf(configuration: Configuration): ProbeSettings {
  return {
    fileSystem: `${configuration.describe("fs.defaultFS")} = ${configuration.get("fs.defaultFS")}`,
    scheduler: schedulerWords(configuration),
  };
}

/** The finding about the nodes from the end of the probe's application. */
export function probeFinding(
  { finalStatus, diagnostics }: Pick<ApplicationReport, "finalStatus" | "diagnostics">,
  settings: ProbeSettings,
): Finding {
  if (finalStatus === "SUCCEEDED") return reportFinding(parseProbeReport(diagnostics));
  // YARN writes some exit code for every container that it tried to start.
  if (!/exit ?code: -?\d+/i.test(diagnostics)) {
    const found = `YARN refused the probe: ${lastWords(diagnostics)}`;
    return { subject, state: "wrong", found, remedy: "jobs would be refused likewise: choose another queue (--queue)" };
  }
  const notCopied = localizationFailure(diagnostics);
  if (notCopied !== undefined) {
    const found = `a node cannot copy the runtime: ${notCopied}`;
    return { subject, state: "wrong", found, remedy: `the nodes must reach the file system of ${settings.fileSystem}` };
  }
  const notLaunched = launchFailure(diagnostics);
  if (notLaunched !== undefined) {
    const found = `a node cannot start a container: ${notLaunched}`;
    const remedy = "its NodeManager's log says more; docs/guide/images.md says what an image must have";
    return { subject, state: "wrong", found, remedy };
  }
  const said = lastWords(diagnostics).split("\n");
  const others = said.filter((line) => !ourWord.test(line));
  if (others.length > 0) {
    const found = `the runtime does not start in a container: ${others.join("\n")}`;
    return { subject, state: "wrong", found, remedy: "set tony.node.binary to a Node that the nodes can load" };
  }
  const [found = "", ownRemedy] = said.join(" ").replace(ourWord, "").split(": ");
  const unreachable = found.includes("cannot register") ? `the nodes must reach ${settings.scheduler}` : undefined;
  const remedy = ownRemedy ?? unreachable;
  return { subject, state: "wrong", found, ...(remedy === undefined ? {} : { remedy }) };
}

/**
 * Why a node could not copy a file of the container: YARN's exit status −1000, with the reason after the time of the attempt's end
 * (org.apache.hadoop.yarn.server.nodemanager.containermanager.localizer.ResourceLocalizationService).
 */
function localizationFailure(diagnostics: string): string | undefined {
  const [status, reason] = diagnostics.split(/Diagnostics: (?:\[[^\]]*\])?/, 2);
  if (reason === undefined || !status?.includes("exitCode: -1000")) return undefined;
  const [line = ""] = reason.trim().split("\n", 1);
  return line.replace(/; For more details see.*$/, "");
}

/**
 * Why a container ended before its command ran: the message of container-executor, for example about a missing image, or of the
 * NodeManager's own launch script (org.apache.hadoop.yarn.server.nodemanager.containermanager.launcher.ContainerLaunch: prelaunch.err).
 */
function launchFailure(diagnostics: string): string | undefined {
  if (/^Last \d+ bytes of stderr :\n\s*\S/m.test(diagnostics)) return undefined;
  const said = /^(?:Shell error output: |Last \d+ bytes of prelaunch\.err :\n)((?!Last |\[)\S.*(?:\n\S.*)?)/m;
  return said.exec(diagnostics)?.[1];
}

/** A host name that resolves to loopback is of no use to frameworks that find each other by it. */
function reportFinding(report: ProbeReport): Finding {
  const { host, loopback } = report;
  if (loopback === undefined) return { subject, state: "well", found: nodeWords(report) };
  return {
    subject,
    state: "remark",
    found: `${nodeWords(report)}; on the node itself, its name leads to ${loopback}`,
    remedy:
      `Gloo, NCCL and Horovod are told the right interface; a program that looks up its own name is not: give ${host} its network address` +
      " in /etc/hosts of the node",
  };
}

function nodeWords({ host, version, architecture, glibc, counted }: ProbeReport): string {
  const library = glibc === "" ? "no glibc" : `glibc ${glibc}`;
  const scheduler = counted === "all" ? "memory, cores and other resources" : "memory alone";
  return `the runtime starts in a container on ${host} (${architecture}, ${library}): Node ${version}; the scheduler counts ${scheduler}`;
}

/**
 * Makes sure that the cluster has the probe's files, and the executor too, where jobs look for them: so the first job of this release, of
 * anybody who shares the cache, finds them there.
 */
export async function shipProbe(
  cluster: Cluster,
  settings: Pick<SiteSettings, "stagingDir" | "cacheDir" | "trustedOwners" | "nodeBinary" | "namedRuntimes">,
  { environment, now }: ClientContext,
): Promise<ProbeFiles> {
  const { stagingDir, nodeBinary, namedRuntimes } = settings;
  const { fileSystems } = cluster;
  const { items, node } = provideRuntime(
    await chooseRuntime({ setting: nodeBinary, byArchitecture: namedRuntimes, running: process.execPath }),
  );
  const root = await stagingRoot(fileSystems, { stagingDir });
  const cache = new ContentCache(cacheOfJobs(cluster, root, settings));
  const memo = await HashMemo.open(localCacheFolder(environment), now);
  const [, ...shipped] = await ship([programItem("executor"), ...items, programItem("am")], {
    fileSystems,
    cache,
    memo,
  });
  return { files: shipped.map(({ file }) => file), node };
}

/** The container's stderr, extracted from YARN's long text. */
function lastWords(diagnostics: string): string {
  const [, stderr = ""] = diagnostics.split(/Last \d+ bytes of stderr :/, 2);
  const [told = ""] = stderr.trim().split(/\n[ \t]*\n/, 1);
  return told === "" ? diagnostics.trim().slice(0, 300) : told;
}
