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

/** Something that containers find in their working directory. */
export interface ShipItem {
  /** Its name there. */
  readonly link: string;
  /** A local path (a file, or a folder, which is packed), or a URL on the cluster, which is used in place. */
  readonly source: string;
  /** See FileToShip; the NodeManager unpacks an archive into a folder with the link's name, the executor a working directory in place. */
  readonly as: "file" | "archive" | "working-directory";
  /** The setting that names it, with its place: `job.xml:9: tony.containers.resources`. */
  readonly namedBy?: string;
  /** True for the runtime and our own programs: a node may keep one copy for all users. */
  readonly shared?: boolean;
}

export interface Shipment {
  readonly file: ShippedFile;
  /** 0 when the cluster already had it. */
  readonly uploadedBytes: number;
  /** Differences from its source, for people. */
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
  /** Default: no facts are known. */
  readonly foreign?: ForeignFiles;
  readonly onProgress?: (progress: ShippingProgress) => void;
  /** Aborts an upload and removes what was sent of it. */
  readonly signal?: AbortSignal;
}

/** An item that the cluster does not have yet. */
interface Missing {
  /** For a folder the size before packing. */
  readonly sizeBytes: number;
  /** Differences from its source, for people. */
  readonly remarks: readonly string[];
  /** Uploads it. */
  readonly upload: () => Promise<Shipment>;
}
type Found = Shipment | Missing;

/** What shipping an item would involve. */
export interface PlannedFile {
  readonly link: string;
  readonly sizeBytes: number;
  /** The cluster has it already. */
  readonly cached: boolean;
  /** Differences from its source, for people. */
  readonly remarks: readonly string[];
}

/**
 * Makes sure that the cluster has every item, and uploads those that it lacks: a second submission of the same content uploads
 * nothing. The lookups run concurrently, the uploads one after the other, because one already saturates the network.
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

/** Says what `ship` would do, without uploading anything. Throws as `ship` does. */
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

/** Faults of several items are reported together. */
async function lookUp(items: readonly ShipItem[], options: ShippingOptions): Promise<Found[]> {
  const local = items.flatMap(({ source }) => (isRemote(source) ? [] : [localPath(source)]));
  const looks = await Promise.allSettled(
    items.map((item) => (isRemote(item.source) ? findRemote(item, options) : findLocal(item, local, options))),
  );
  const errors: unknown[] = looks.flatMap((look) => (look.status === "rejected" ? [look.reason] : []));
  if (errors.length > 0) throw together(errors);
  return looks.flatMap((look) => (look.status === "fulfilled" ? [look.value] : []));
}

/** Joins people's mistakes, one per line; any other error, such as an unreachable file system, is passed on alone. */
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

/** A file on the cluster is used in place; nodes fetch it as the user. */
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

/** A missing file on the cluster is for the job's author to fix; any other error is passed on unchanged. */
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

/** The archive is made only when its hash is not remembered, or the cluster no longer has it. */
async function findPacked(item: ShipItem, packing: Packing, options: ShippingOptions): Promise<Found> {
  const { remarks } = packing;
  const there = await storedPacked(item, packing, options);
  if (there !== undefined) return there;
  const sizeBytes = options.memo.find(packing.key, packing.identity)?.sizeBytes ?? packing.unpackedBytes;
  // By then another role may have uploaded it.
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

/** For larger files hashing takes nodes a noticeable time at each container start. */
const quicklyHashedBytes = 16 * 1024 * 1024;

/**
 * Our own programs are verified where they are run. A job's own files are not: programs may write to them. Nor is a runtime in the user's own
 * cache, which was hashed during the upload and which nobody else can change.
 */
function isCheckedByNodes({ shared = false }: ShipItem, { own, sizeBytes }: CacheEntry): boolean {
  return shared && (!own || sizeBytes <= quicklyHashedBytes);
}

/** The link restores the real name; here only the extension matters, and YARN's URLs do not allow special characters. */
function cacheName(name: string): string {
  return name
    .replace(/[^A-Za-z0-9._+-]/g, "_")
    .replace(/^\./, "_")
    .slice(-100);
}

/** A zip on the cluster is not repacked here: that would mean downloading it and uploading it again. */
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

/** The setting that names it, in front of the fault. */
function placeOf({ namedBy }: ShipItem): string {
  return namedBy === undefined ? "" : `${namedBy}: `;
}
