import { rm, stat } from "node:fs/promises";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { UserError } from "../../src/errors.ts";
import { errorMessage, isNotThere } from "../../src/hadoop/errors.ts";
import { localFileContent } from "../../src/hadoop/hdfs/content.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { type FileSystems, splitUri } from "../../src/hadoop/hdfs/file-systems.ts";
import { checkUnpackable, isOfCluster } from "../../src/job/build/resource-strings.ts";
import { countWords } from "../../src/job/reasons/words.ts";
import type { ShippedFile } from "../../src/job/stored/job-file.ts";
import type { CacheEntry, CacheKey, ContentCache } from "./cache.ts";
import { type FileFacts, type ForeignFiles, foreignFile } from "./foreign-files.ts";
import { type HashMemo, hashFile, type KnownContent } from "./hash-memo.ts";
import { isZip, type Packing, packingForOthers, packingOfZip } from "./packing/packing.ts";
import { packingPlace } from "./packing/packing-place.ts";
import { countLinks } from "./packing/repack-zip.ts";

/** Something that containers are to find in their working directory. */
export interface ShipItem {
  /** Its name there. */
  readonly link: string;
  /** A local path (a file, or a folder that is packed), or a URL of the cluster's, which is used where it is. */
  readonly source: string;
  /** See FileToShip; both archives are unpacked by the NodeManager into a folder named by the link. */
  readonly as: "file" | "archive" | "working-directory";
  /** Who names it, with the place: `job.xml:9: tony.containers.resources`. */
  readonly namedBy?: string;
  /** The runtime and our own programs: nodes may keep one copy for everybody. */
  readonly shared?: boolean;
}

export interface Shipment {
  readonly file: ShippedFile;
  /** 0 when the cluster had it. */
  readonly uploadedBytes: number;
  /** How it differs from its source, for people. */
  readonly remarks: readonly string[];
}

export interface ShippingProgress {
  readonly link: string;
  readonly sentBytes: number;
  readonly totalBytes: number;
}

export interface ShippingOptions {
  readonly fileSystems: FileSystems;
  readonly cache: ContentCache;
  readonly memo: HashMemo;
  /** Default: nothing is known of them. */
  readonly foreign?: ForeignFiles;
  readonly onProgress?: (progress: ShippingProgress) => void;
  /** Breaks an upload off; what was sent of it is removed. */
  readonly signal?: AbortSignal;
}

/** An item that the cluster does not have. */
interface Missing {
  /** Of a folder the size before it is packed. */
  readonly sizeBytes: number;
  /** How it differs from its source, for people. */
  readonly remarks: readonly string[];
  /** Brings it there. */
  readonly upload: () => Promise<Shipment>;
}
type Found = Shipment | Missing;

/** What shipping an item would come to. */
export interface PlannedFile {
  readonly link: string;
  readonly sizeBytes: number;
  /** The cluster has it already. */
  readonly cached: boolean;
  /** How it differs from its source, for people. */
  readonly remarks: readonly string[];
}

/**
 * Sees to it that the cluster has every item, uploading what it does not have: a second submission of the same content uploads
 * nothing. All are looked up together; uploads go one after the other, because one already fills the network.
 *
 * @returns in the order of the items
 * @throws UserError for a source that is missing, cannot be read or cannot be unpacked by YARN
 */
export async function ship(items: readonly ShipItem[], options: ShippingOptions): Promise<Shipment[]> {
  const shipped: Shipment[] = [];
  for (const found of await lookUp(items, options)) {
    options.signal?.throwIfAborted();
    shipped.push("upload" in found ? await found.upload() : found);
  }
  await options.memo.save();
  return shipped;
}

/** Says what `ship` would do, and uploads nothing. Throws as it does. */
export async function planShipping(items: readonly ShipItem[], options: ShippingOptions): Promise<PlannedFile[]> {
  const found = await lookUp(items, options);
  await options.memo.save();
  return items.flatMap(({ link }, index): PlannedFile[] => {
    const one = found[index];
    if (one === undefined) return [];
    const cached = !("upload" in one);
    return [{ link, sizeBytes: cached ? one.file.sizeBytes : one.sizeBytes, cached, remarks: one.remarks }];
  });
}

/** What is wrong with several is told together. */
async function lookUp(items: readonly ShipItem[], options: ShippingOptions): Promise<Found[]> {
  const local = items.flatMap(({ source }) => (isRemote(source) ? [] : [localPath(source)]));
  const looks = await Promise.allSettled(
    items.map((item) => (isRemote(item.source) ? findRemote(item, options) : findLocal(item, local, options))),
  );
  const errors: unknown[] = looks.flatMap((look) => (look.status === "rejected" ? [look.reason] : []));
  if (errors.length > 0) throw together(errors);
  return looks.flatMap((look) => (look.status === "fulfilled" ? [look.value] : []));
}

/** People's mistakes, a line each; an error of another kind, such as of a file system that is not reached, speaks for itself. */
function together(errors: readonly unknown[]): unknown {
  const mistakes = errors.filter((error) => error instanceof UserError);
  const [first] = mistakes;
  if (first === undefined || mistakes.length < errors.length)
    return errors.find((error) => !(error instanceof UserError));
  const lines = [...new Set(mistakes.map(({ message }) => message))];
  return lines.length === 1 ? first : new UserError(lines.join("\n"), { code: first.code, cause: first });
}

function isRemote(source: string): boolean {
  const scheme = splitUri(source)?.root.scheme;
  return scheme !== undefined && scheme !== "file";
}

const UNKNOWN: ForeignFiles = { stated: [], environment: {} };

/** A file of the cluster's is used where it is; nodes fetch it as the user. */
async function findRemote(item: ShipItem, { fileSystems, foreign = UNKNOWN }: ShippingOptions): Promise<Shipment> {
  if (!isOfCluster(splitUri(item.source)?.root.scheme ?? "")) {
    if (item.as !== "file") checkEnding(item, item.source);
    const facts = await foreignFile(item.source, item.namedBy ?? "The job", foreign);
    return remoteShipment(item, { ...facts, url: item.source });
  }
  const { fileSystem, path: remotePath } = fileSystems.locate(item.source);
  const status = await fileSystem.stat(remotePath).catch((error: unknown) => {
    throw missing(item, error);
  });
  if (item.as !== "file") {
    checkEnding(item, remotePath);
    if (isZip(remotePath)) await checkStoredZip(item, fileSystem, status);
  }
  const { lengthBytes: sizeBytes, modificationTimeMs } = status;
  return remoteShipment(item, { url: fileSystem.uri + remotePath, sizeBytes, modificationTimeMs });
}

function remoteShipment({ link, as }: ShipItem, facts: FileFacts & Pick<ShippedFile, "url">): Shipment {
  const file: ShippedFile = { ...facts, link, type: as === "file" ? "FILE" : "ARCHIVE", visibility: "PRIVATE" };
  return { file, uploadedBytes: 0, remarks: [] };
}

/** A file of the cluster's that is not there is for the job's author to mend; any other error stays as it is. */
function missing({ namedBy, source }: ShipItem, error: unknown): unknown {
  if (!hasCode(error, "FILE_NOT_FOUND")) return error;
  const words = `${namedBy ?? "The job"} names ${source}, which does not exist`;
  return new UserError(words, { code: "RESOURCE_UNREADABLE", cause: error });
}

function localPath(source: string): string {
  return splitUri(source)?.path ?? source;
}

/** @param local the paths of all items that are sent from this machine */
async function findLocal(item: ShipItem, local: readonly string[], options: ShippingOptions): Promise<Found> {
  const source = localPath(item.source);
  const stats = await stat(source).catch((error: unknown) => {
    throw unreadable(item, source, error);
  });
  if (stats.isDirectory()) return findPacked(item, await packingForOthers(source, item.as, local), options);
  if (!stats.isFile()) {
    const words = `${placeOf(item)}${source} is neither a file nor a folder`;
    throw new UserError(words, { code: "RESOURCE_UNREADABLE" });
  }
  if (item.as !== "file") checkEnding(item, source);
  const known = await options.memo.file(source).catch((error: unknown) => {
    throw unreadable(item, source, error);
  });
  if (item.as !== "file" && isZip(source)) {
    const packing = await packingOfZip(source, known, item.as);
    if (packing !== undefined) return findPacked(item, packing, options);
  }
  const name = path.basename(source);
  const type = item.as === "file" ? "FILE" : "ARCHIVE";
  const entry = await options.cache.get(cacheKey(item, known, name));
  if (entry !== undefined) return shipmentOf(item, known, entry, type);
  return { sizeBytes: known.sizeBytes, remarks: [], upload: () => put(item, source, known, name, type, options) };
}

/** It is made only when it is not remembered, or the cluster lost it. */
async function findPacked(item: ShipItem, packing: Packing, options: ShippingOptions): Promise<Found> {
  const { remarks } = packing;
  const there = await storedPacked(item, packing, options);
  if (there !== undefined) return there;
  const sizeBytes = options.memo.find(packing.key, packing.identity)?.sizeBytes ?? packing.unpackedBytes;
  // By then it may have been sent for another role.
  const upload = async () => (await storedPacked(item, packing, options)) ?? (await packAndPut(item, packing, options));
  return { sizeBytes, remarks, upload };
}

async function storedPacked(
  item: ShipItem,
  { key, identity, fileName, type, remarks }: Packing,
  { cache, memo }: ShippingOptions,
): Promise<Shipment | undefined> {
  const known = memo.find(key, identity);
  const entry = known && (await cache.get(cacheKey(item, known, fileName)));
  return known && entry && { ...shipmentOf(item, known, entry, type), remarks };
}

async function packAndPut(item: ShipItem, packing: Packing, options: ShippingOptions): Promise<Shipment> {
  const { key, identity, changedAtMs, fileName, type, write, remarks } = packing;
  const temporary = await packingPlace();
  try {
    const archive = path.join(temporary, "archive");
    await write(archive);
    const content = await hashFile(archive);
    options.memo.remember(key, identity, content, changedAtMs);
    return { ...(await put(item, archive, content, fileName, type, options)), remarks };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function put(
  item: ShipItem,
  source: string,
  known: KnownContent,
  name: string,
  type: ShippedFile["type"],
  { cache, onProgress, signal }: ShippingOptions,
): Promise<Shipment> {
  const content = localFileContent(source, known.sizeBytes);
  const entry = await cache.put(cacheKey(item, known, name), content, {
    onProgress: (sentBytes) => onProgress?.({ link: item.link, sentBytes, totalBytes: known.sizeBytes }),
    signal,
  });
  return shipmentOf(item, known, entry, type);
}

function cacheKey(item: ShipItem, content: KnownContent, name: string): CacheKey {
  return { ...content, name: cacheName(name), shared: item.shared ?? false };
}

function shipmentOf(item: ShipItem, { sha256 }: KnownContent, entry: CacheEntry, type: ShippedFile["type"]): Shipment {
  const { url, sizeBytes, modificationTimeMs, visibility, uploadedBytes } = entry;
  const file = { link: item.link, url, sizeBytes, modificationTimeMs, type, visibility };
  return { file: isCheckedByNodes(item, entry) ? { ...file, sha256 } : file, uploadedBytes, remarks: [] };
}

/** Larger ones take nodes a noticeable time to hash, at each start of a container. */
const quicklyHashedBytes = 16 * 1024 * 1024;

/**
 * Ours is checked where it is run. A job's own files are not: programs may write to them. Neither is a runtime in the user's own cache, which
 * was hashed as it was sent and which nobody else can change.
 */
function isCheckedByNodes({ shared = false }: ShipItem, { own, sizeBytes }: CacheEntry): boolean {
  return shared && (!own || sizeBytes <= quicklyHashedBytes);
}

/** The link gives the real name back; here only the ending counts, and YARN's URLs take no odd characters. */
function cacheName(name: string): string {
  return name
    .replace(/[^A-Za-z0-9._+-]/g, "_")
    .replace(/^\./, "_")
    .slice(-100);
}

/** What lies on the cluster is not repacked here: that would fetch it and send it again. */
async function checkStoredZip(item: ShipItem, fileSystem: FileSystem, { path: file, lengthBytes }: FileStatus) {
  const links = await countLinks(item.source, {
    lengthBytes,
    read: async (offset, wanted) => buffer(await fileSystem.open(file, { offset, lengthBytes: wanted })),
  });
  if (links === 0) return;
  throw new UserError(
    `${placeOf(item)}${item.source} is a zip with ${countWords(links, "symbolic link")}, which YARN unpacks as text files: ` +
      "store it as .tar.gz, or name a copy on this machine, which is sent as one",
    { code: "LINKS_IN_ZIP" },
  );
}

function checkEnding(item: ShipItem, source: string): void {
  try {
    checkUnpackable(source, item.source);
  } catch (cause) {
    throw new UserError(`${placeOf(item)}${errorMessage(cause)}`, { code: "NOT_AN_ARCHIVE", cause });
  }
}

function unreadable(item: ShipItem, source: string, error: unknown): UserError {
  const problem = isNotThere(error) ? "does not exist" : `cannot be read: ${errorMessage(error)}`;
  const words = `${placeOf(item)}${source}, which the containers are to find as ${item.link}, ${problem}`;
  return new UserError(words, { code: "RESOURCE_UNREADABLE", cause: error });
}

/** Who names it, before what is wrong with it. */
function placeOf({ namedBy }: ShipItem): string {
  return namedBy === undefined ? "" : `${namedBy}: `;
}
