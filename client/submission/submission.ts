import { type ClientAccess, clientAccess, clientAccessFile, masterSecrets } from "../../src/api/identity.ts";
import { makeIdentity } from "../../src/api/make-identity.ts";
import { ExitCode, UserError } from "../../src/errors.ts";
import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { VirtualMemoryCheck } from "../../src/job/build-roles.ts";
import type { JobFile, LaunchFile } from "../../src/job/job-file.ts";
import { launchCommand } from "../../src/job/launch-command.ts";
import { checkJob, type JobText } from "../../src/job/load-job.ts";
import { formatProblem, hasErrors, invalidJob, type Problem } from "../../src/job/problem.ts";
import { readSetting } from "../../src/job/read-settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import { buildId } from "../../src/programs.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { checkAgainstCluster } from "../cluster/cluster-checks.ts";
import { askSubmissionFacts, type SubmissionFacts } from "../cluster/cluster-facts.ts";
import { jobLookUp } from "../command-line/job-options.ts";
import type { ClientContext } from "../context.ts";
import { ContentCache } from "../shipping/cache.ts";
import { HashMemo, localCacheFolder } from "../shipping/hash-memo.ts";
import { chooseRuntime, type ProvidedRuntime, provideRuntime, runtimeLink } from "../shipping/runtime.ts";
import { type ShipItem, type ShippedFile, ship } from "../shipping/shipping.ts";
import { thisSubmitter } from "../shipping/submitter.ts";
import { type UploadedPart, UploadProgress, uploadLine, uploadRemark } from "../shipping/upload-lines.ts";
import { itemsOf, shippingPlan } from "./shipping-plan.ts";
import { StagingFolder, stagingRoot } from "./staging.ts";
import { submissionContext } from "./submission-context.ts";

/** A job that the ResourceManager has taken. */
export interface Submitted {
  readonly id: string;
  readonly spec: JobSpec;
  readonly access: ClientAccess;
  /** When the ResourceManager took it. */
  readonly atMs: number;
}

/** Is told of a submission as it goes on. */
export interface SubmissionListener {
  readonly named: (id: string, spec: JobSpec) => void;
  /** @param line what was uploaded, for people */
  readonly uploaded: (line: string) => void;
}

const jobLink = "job.json";
/** In a pipe an upload that is done by then is told afterwards only. */
const silentUploadMs = 5_000;

/**
 * Submits a job to a cluster. Everything that can be known to be wrong is known before the first byte is uploaded; the staging folder
 * is made last and removed again when anything fails after it, so that a client that dies leaves at most that folder, which the user's
 * next command sweeps. Undefined when `stop` fired before the ResourceManager was told: nothing is left then.
 *
 * @param draft the same job as `checkAlone` gave it
 */
export async function submitToYarn(
  text: JobText,
  draft: JobSpec,
  context: ClientContext,
  cluster: Cluster,
  listener: SubmissionListener,
  stop: AbortSignal,
): Promise<Submitted | undefined> {
  const { settings } = text;
  const runtime = await runtimeOf(settings);
  const asked = await untilStopped(
    Promise.all([
      askSubmissionFacts(cluster.resourceManager, draft.queue),
      stagingRoot(cluster.fileSystems, { stagingDir: readSetting(settings, "tony.staging-dir") }),
    ]),
    stop,
  );
  if (asked === undefined) return givenUp(context);
  const [facts, root] = asked;
  const { spec, problems } = checkJob(text, {
    ...surroundingsOf(context),
    resourceTypes: facts.resourceTypes,
    clusterExpiryMs: clusterExpiryMs(cluster),
    ...virtualMemory(cluster),
  });
  if (spec === undefined) throw refused(problems);
  const refusals = checkAgainstCluster(spec, facts);
  if (refusals.length > 0) throw refused(refusals);
  for (const problem of problems) context.output.problem(formatProblem(problem));

  const { id } = facts.application;
  listener.named(id, spec);
  const shipped = await shipFiles(text, spec, context, cluster, { root, listener, runtime, stop });
  if (shipped === undefined || stop.aborted) return givenUp(context);
  const identity = makeIdentity(id, context.now());
  const staging = await StagingFolder.create(root, id, cluster.user.name);
  try {
    const gateway = readSetting(settings, "tony.hdfs.endpoint");
    const jobFile = jobFileOf({ id, spec, facts, staging, shipped, cluster, gateway });
    const staged = await staging.writeAll({
      [jobLink]: Buffer.from(JSON.stringify(jobFile)),
      [clientAccessFile]: Buffer.from(JSON.stringify({ ...clientAccess(identity), submitter: thisSubmitter() })),
    });
    const launch = {
      files: [...shipped.master, ...staged.filter(({ link }) => link === jobLink)],
      commands: [launchCommand({ node: jobFile.node, bundle: "am.mjs" })],
      environment: spec.containerEnvironment,
      credentials: writeTokenFile({ tokens: [], secrets: masterSecrets(identity) }),
    };
    if (stop.aborted) {
      await staging.remove();
      return givenUp(context);
    }
    await cluster.resourceManager.submit(submissionContext(id, spec, launch));
  } catch (error) {
    await staging.remove().catch(() => undefined);
    throw error;
  }
  return { id, spec, access: clientAccess(identity), atMs: context.now() };
}

/** A job as far as it can be checked without a cluster. @throws UserError (`JOB_INVALID`) with all that is wrong */
export function checkAlone(text: JobText, context: ClientContext): JobSpec {
  const { spec, problems } = checkJob(text, surroundingsOf(context));
  if (spec === undefined || hasErrors(problems)) throw invalidJob(problems);
  return spec;
}

function surroundingsOf({ workingDirectory }: ClientContext): Parameters<typeof checkJob>[1] {
  return { workingDirectory, lookUp: jobLookUp };
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

function givenUp({ output }: ClientContext): undefined {
  output.endWait();
  output.problem("Nothing was submitted, and nothing is left on the cluster");
}

/** Which shipped files go where. */
interface Shipped {
  readonly master: readonly LaunchFile[];
  readonly all: readonly LaunchFile[];
  readonly byRole: Readonly<Record<string, readonly LaunchFile[]>>;
  readonly node: string;
}

/** Undefined when `stop` fired meanwhile. */
async function shipFiles(
  text: JobText,
  spec: JobSpec,
  context: ClientContext,
  cluster: Cluster,
  {
    root,
    listener,
    runtime,
    stop,
  }: {
    readonly root: LocatedPath;
    readonly listener: SubmissionListener;
    readonly runtime: ProvidedRuntime;
    readonly stop: AbortSignal;
  },
): Promise<Shipped | undefined> {
  const plan = shippingPlan(spec, runtime.items);
  const items = itemsOf(plan);
  const cache = new ContentCache({
    fileSystems: cluster.fileSystems,
    stagingRoot: root,
    cacheDir: readSetting(text.settings, "tony.cache.dir"),
    user: cluster.user.name,
    trustedOwners: readSetting(text.settings, "tony.cache.trusted-owners") ?? [],
  });
  const startedAtMs = context.now();
  const [shipped] = await Promise.all([
    shipWithProgress(items, context, cache, cluster, stop),
    // What cannot be swept now is the next submission's.
    cache.sweep(startedAtMs).catch(() => undefined),
  ]);
  if (shipped === undefined) return undefined;
  listener.uploaded(uploadLine(shipped.map(uploadedPart), context.now() - startedAtMs));
  for (const { file, remarks } of shipped)
    for (const remark of remarks) listener.uploaded(uploadRemark(file.link, remark));
  const files = new Map(items.flatMap((item, index) => pairOf(item, shipped[index])));
  const fileOf = (item: ShipItem): LaunchFile => {
    const found = files.get(item);
    if (found === undefined) throw new RangeError(`${item.link} was not shipped`);
    return found.file;
  };
  return {
    node: runtime.node,
    master: plan.master.map(fileOf),
    all: plan.all.map(fileOf),
    byRole: Object.fromEntries(Object.entries(plan.byRole).map(([name, own]) => [name, own.map(fileOf)])),
  };
}

async function shipWithProgress(
  items: readonly ShipItem[],
  context: ClientContext,
  cache: ContentCache,
  { fileSystems }: Cluster,
  signal: AbortSignal,
): Promise<ShippedFile[] | undefined> {
  const { output, now, environment } = context;
  const startedAtMs = now();
  const progress = new UploadProgress();
  const looking = "  upload  comparing with what the cluster has already";
  if (output.isTerminal) output.wait({ lines: [looking], line: looking, change: looking });
  const shipping = ship(items, {
    cache,
    fileSystems,
    memo: await HashMemo.open(localCacheFolder(environment), now),
    signal,
    onProgress: ({ link, sentBytes, totalBytes }) => {
      progress.update(link, sentBytes, totalBytes);
      if (!output.isTerminal && now() - startedAtMs < silentUploadMs) return;
      const line = progress.line();
      output.wait({ lines: [line], line, change: "upload" });
    },
  });
  try {
    return await shipping;
  } catch (error) {
    // The upload that was broken off is no trouble of the cluster's.
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    output.endWait();
  }
}

function pairOf<A, B>(a: A, b: B | undefined): [A, B][] {
  return b === undefined ? [] : [[a, b]];
}

function uploadedPart({ file, uploadedBytes }: ShippedFile): UploadedPart {
  const what = file.link === runtimeLink ? "node runtime" : file.link;
  return { what, uploadedBytes, totalBytes: file.sizeBytes };
}

async function runtimeOf(settings: JobText["settings"]): Promise<ProvidedRuntime> {
  const setting = readSetting(settings, "tony.node.binary");
  const writtenAt = settings.get("tony.node.binary")?.at;
  return provideRuntime(await chooseRuntime({ setting, writtenAt, running: process.execPath }));
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
    hadoop: withoutSecrets(cluster.configuration.values()),
    ...(gateway === undefined ? {} : { hdfsEndpoint: gateway }),
    nodes: facts.nodes,
    sharedLabels: facts.sharedLabels,
  };
}

/** What Hadoop itself hides of a configuration (hadoop.security.sensitive-config-keys); the AM needs none of it. */
function withoutSecrets(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter(([key]) => !/secret|passw|credential|access\.?key/i.test(key)),
  );
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

/** All that the cluster would refuse, in one error. */
function refused(problems: readonly Problem[]): UserError {
  const errors = problems.filter(({ severity }) => severity === "error");
  return new UserError(errors.map(formatProblem).join("\n"), { code: "CLUSTER_REFUSES", exitCode: ExitCode.cluster });
}
