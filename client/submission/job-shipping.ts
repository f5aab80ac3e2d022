import type { LocatedPath } from "../../src/hadoop/hdfs/file-systems.ts";
import type { JobText } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { ShippedFile } from "../../src/job/stored/job-file.ts";
import { localCacheFolder } from "../../src/local-cache.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { trustedOwners } from "../cluster/site-settings.ts";
import type { ClientContext } from "../context.ts";
import type { WaitBlock } from "../output/output.ts";
import { ContentCache } from "../shipping/cache.ts";
import { cacheOfJobs } from "../shipping/cache-access.ts";
import type { ForeignFiles } from "../shipping/foreign-files.ts";
import { HashMemo } from "../shipping/hash-memo.ts";
import type { ProvidedRuntime } from "../shipping/runtime.ts";
import { type PlannedFile, planShipping, type ShipItem, type Shipment, ship } from "../shipping/shipping.ts";
import { nameOf, type UploadedPart, UploadProgress, uploadLine, uploadRemark } from "../shipping/upload-lines.ts";
import type { ShippedKeytab } from "./shipped-keytab.ts";
import { itemsOf, type ShippingPlan, shippingPlan } from "./shipping-plan.ts";

/** In a pipe, a shorter upload is only reported when it is done. */
const silentUploadMs = 5_000;

/** Receives the progress of an upload. */
export interface UploadListener {
  /** Called while it is in progress. */
  readonly uploading: (block: WaitBlock) => void;
  /** @param line what was uploaded, for people */
  readonly uploaded: (line: string) => void;
}

/** A job whose files have to be on a cluster. */
export interface JobToShip {
  readonly text: JobText;
  readonly spec: JobSpec;
  readonly cluster: Cluster;
  readonly runtime: ProvidedRuntime;
  readonly keytab: ShippedKeytab | undefined;
  /** The folder of the staging folders. */
  readonly root: LocatedPath;
}

/** Which shipped files go to which containers. */
export interface Shipped {
  readonly master: readonly ShippedFile[];
  readonly all: readonly ShippedFile[];
  readonly byRole: Readonly<Record<string, readonly ShippedFile[]>>;
  readonly node: string;
}

/** Makes sure that the cluster has the files that the job's containers need. Undefined when `stop` was aborted meanwhile. */
export async function shipFiles(
  job: JobToShip,
  context: ClientContext,
  listener: UploadListener,
  stop: AbortSignal,
): Promise<Shipped | undefined> {
  const plan = planOf(job);
  const items = itemsOf(plan);
  const { runtime } = job;
  const cache = contentCache(job);
  const startedAtMs = context.now();
  const [shipped] = await Promise.all([
    shipWithProgress(items, context, job, cache, listener, stop),
    // What cannot be swept now is left to the next submission.
    cache.sweep(startedAtMs).catch(() => undefined),
  ]);
  if (shipped === undefined) return undefined;
  listener.uploaded(uploadLine(shipped.map(uploadedPart), context.now() - startedAtMs));
  // Several roles may have the same environment.
  const remarked = shipped.flatMap(({ file, remarks }) => remarks.map((remark) => uploadRemark(file.link, remark)));
  for (const line of new Set(remarked)) listener.uploaded(line);
  const files = new Map(items.flatMap((item, index) => pairOf(item, shipped[index])));
  const fileOf = (item: ShipItem): ShippedFile => {
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

function planOf({ spec, runtime, text, keytab }: JobToShip): ShippingPlan {
  return shippingPlan(spec, runtime, text.submission.ship, keytab?.items);
}

function contentCache({ text, cluster, root }: JobToShip): ContentCache {
  const cacheDir = readSetting(text.settings, "tony.cache.dir");
  return new ContentCache(cacheOfJobs(cluster, root, { cacheDir, trustedOwners: trustedOwners(text.settings) }));
}

function foreignFiles({ text }: JobToShip, environment: ClientContext["environment"]): ForeignFiles {
  return { stated: readSetting(text.settings, "tony.application.file-status") ?? [], environment };
}

/** Which of a job's files a submission would upload; uploads nothing. */
export async function planFiles(job: JobToShip, { environment, now }: ClientContext): Promise<PlannedFile[]> {
  return await planShipping(itemsOf(planOf(job)), {
    foreign: foreignFiles(job, environment),
    cache: contentCache(job),
    fileSystems: job.cluster.fileSystems,
    memo: await HashMemo.open(localCacheFolder(environment), now),
  });
}

async function shipWithProgress(
  items: readonly ShipItem[],
  context: ClientContext,
  job: JobToShip,
  cache: ContentCache,
  { uploading }: UploadListener,
  signal: AbortSignal,
): Promise<Shipment[] | undefined> {
  const { output, now, environment } = context;
  const startedAtMs = now();
  const progress = new UploadProgress();
  const looking = "  upload  comparing with what the cluster has already";
  if (output.isTerminal) uploading({ lines: [looking], cause: looking, line: looking, change: "", facts: [] });
  const shipping = ship(items, {
    cache,
    fileSystems: job.cluster.fileSystems,
    foreign: foreignFiles(job, environment),
    memo: await HashMemo.open(localCacheFolder(environment), now),
    signal,
    onProgress: ({ link, sentBytes, totalBytes }) => {
      progress.update(link, sentBytes, totalBytes);
      if (!output.isTerminal && now() - startedAtMs < silentUploadMs) return;
      const line = progress.line();
      uploading({ lines: [line], cause: "upload", line, change: "", facts: [] });
    },
  });
  try {
    return await shipping;
  } catch (error) {
    // The aborted upload is not an error of the cluster's.
    if (signal.aborted) return undefined;
    throw error;
  } finally {
    output.endWait();
  }
}

function pairOf<A, B>(a: A, b: B | undefined): [A, B][] {
  return b === undefined ? [] : [[a, b]];
}

function uploadedPart({ file, uploadedBytes }: Shipment): UploadedPart {
  return { what: nameOf(file.link), uploadedBytes, totalBytes: file.sizeBytes };
}
