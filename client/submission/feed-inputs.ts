import path from "node:path/posix";
import { buffer } from "node:stream/consumers";
import { TonyError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { globExpression } from "../../src/hadoop/glob.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileStatus, FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { ifThere, listIfThere } from "../../src/hadoop/hdfs/if-there.ts";
import { codecOf } from "../../src/history/avro/read.ts";
import { containerMagic } from "../../src/history/avro/schema.ts";
import { type Cut, isCut, isPacked, isPackedInVain, strayBytes } from "../../src/job/feeds/cut.ts";
import type { FeedSpec } from "../../src/job/feeds/feed-spec.ts";
import { type InputFile, type Plan, planOf } from "../../src/job/feeds/plan.ts";
import { keyFor } from "../../src/job/keys.ts";
import { keyProblem, type Problem } from "../../src/job/problem.ts";
import { countWords, sizeWords } from "../../src/job/reasons/words.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { FeedForecast } from "../printed-json.ts";

/** The ApplicationMaster holds the list, and every attempt of it reads it. */
const MOST_FILES = 100_000;
/** Where files cannot be cut, more than this is told: what a split has that they have not. */
const USUAL_SPLIT_BYTES = 64 << 20;
/** How files begin of formats that say so. */
const MAGIC: { readonly [F in Cut["format"]]?: Buffer } = { avro: containerMagic, parquet: Buffer.from("PAR1") };
/** So much is read of an Avro file; of a longer header nothing is said before a task reads it. */
const MOST_HEADER_BYTES = 1 << 16;

type Looked = Pick<FileSystem, "uri" | "stat" | "list" | "open">;

interface FileLookUp {
  locate(pathOrUri: string): { readonly fileSystem: Looked; readonly path: string };
}

/** By the names of feeds, the files that their inputs stand for now, and what is wrong with them. */
export interface FeedInputs {
  readonly feeds: Readonly<Record<string, readonly InputFile[]>>;
  readonly problems: readonly Problem[];
}

/** Little is read of the files, of one for each place that an input names: whether it may be, and of Avro whether its codec is known. */
export async function findFeedInputs(spec: JobSpec, fileSystems: FileLookUp): Promise<FeedInputs> {
  const problems: Problem[] = [];
  const feeds: Record<string, readonly InputFile[]> = {};
  for (const feed of spec.feeds ?? []) {
    const key = keyFor("tony.feed.{feed}.input", { feed: feed.name });
    const refuse = (message: string) => problems.push(keyProblem("error", spec, key, `${key} names ${message}`));
    const files: InputFile[] = [];
    for (const place of feed.input) {
      try {
        const found = await filesAt(fileSystems, place, feed.cut);
        if (found.length === 0) refuse(`${place}, where there is no file`);
        for (const file of found) files.push(file);
      } catch (error) {
        const isMissing = hasCode(error, "FILE_NOT_FOUND");
        refuse(isMissing ? `${place}, which does not exist` : `${place}, which cannot be read: ${errorMessage(error)}`);
      }
    }
    if (problems.length === 0) unusable(feed, files).forEach(refuse);
    if (feed.output !== undefined && (await isThere(fileSystems, feed.output))) {
      const outputKey = keyFor("tony.feed.{feed}.output", { feed: feed.name });
      const message = `${outputKey} names ${feed.output}, which exists already: name another folder, or remove it`;
      problems.push(keyProblem("error", spec, outputKey, message));
    }
    feeds[feed.name] = files;
  }
  return { feeds, problems };
}

async function isThere(fileSystems: FileLookUp, place: string): Promise<boolean> {
  const { fileSystem, path: folder } = fileSystems.locate(place);
  return (await ifThere(fileSystem.stat(folder))) !== undefined;
}

async function filesAt(fileSystems: FileLookUp, place: string, cut: Cut): Promise<readonly InputFile[]> {
  const { fileSystem, path: pattern } = fileSystems.locate(place);
  const statuses: FileStatus[] = [];
  for (const found of await matching(fileSystem, "/", pattern.split("/").filter(Boolean))) {
    if (found.type !== "DIRECTORY") statuses.push(found);
    else statuses.push(...(await fileSystem.list(found.path)).filter(isShownFile));
  }
  const [first] = statuses.filter(({ lengthBytes }) => lengthBytes > 0);
  if (first !== undefined) {
    const magic = isPackedInVain(cut, first.path) ? undefined : MAGIC[cut.format];
    const lengthBytes = magic === undefined ? 1 : MOST_HEADER_BYTES;
    const beginning = await buffer(await fileSystem.open(first.path, { lengthBytes }));
    if (magic !== undefined && !magic.equals(beginning.subarray(0, magic.length)))
      throw new TonyError(`${first.path} begins as no file of format ${cut.format}`, { code: "FEED_UNREADABLE" });
    if (cut.format === "avro") checkCodec(first.path, beginning);
  }
  return statuses.map(({ path: file, lengthBytes, modificationTimeMs }) => ({
    path: `${fileSystem.uri}${file}`,
    length: lengthBytes,
    modifiedMs: modificationTimeMs,
  }));
}

/** Other files may have others: whoever reads those is told. */
function checkCodec(file: string, beginning: Uint8Array): void {
  const codec = codecOf(beginning) ?? "null";
  if (codec === "null" || codec === "deflate") return;
  const message = `${file} is compressed by ${codec}; Avro files are read of the codecs null and deflate`;
  throw new TonyError(message, { code: "FEED_UNREADABLE" });
}

/** What lies below the folder by a path of which each part may be a pattern. */
async function matching(fileSystem: Looked, folder: string, parts: readonly string[]): Promise<FileStatus[]> {
  const pattern = parts.findIndex((part) => /[*?[{]/.test(part));
  const [part, ...rest] = pattern < 0 ? [] : parts.slice(pattern);
  const base = path.join(folder, ...(part === undefined ? parts : parts.slice(0, pattern)));
  if (part === undefined) return [await fileSystem.stat(base)];
  const expression = globExpression(part);
  const entries = await listIfThere(fileSystem, base);
  const found = entries.filter((entry) => isShown(entry) && expression.test(path.basename(entry.path)));
  if (rest.length === 0) return found;
  const below: FileStatus[] = [];
  for (const entry of found.filter(({ type }) => type === "DIRECTORY")) {
    try {
      below.push(...(await matching(fileSystem, entry.path, rest)));
    } catch (error) {
      if (!hasCode(error, "FILE_NOT_FOUND")) throw error;
    }
  }
  return below;
}

/** Hadoop's jobs leave out the others too (FileInputFormat.hiddenFileFilter): _SUCCESS, .part-0.crc. */
function isShown({ path: file }: FileStatus): boolean {
  return !/^[._]/.test(path.basename(file));
}

function isShownFile(status: FileStatus): boolean {
  return status.type !== "DIRECTORY" && isShown(status);
}

/** Why the files cannot be handed out. */
function unusable({ cut }: FeedSpec, files: readonly InputFile[]): string[] {
  const [first] = files;
  if (files.length > MOST_FILES)
    return [`${countWords(files.length, "file")}: a feed has ${MOST_FILES} at most; put small ones together`];
  if (first !== undefined && files.every(({ length }) => length === 0))
    return [`${first.path}${files.length > 1 ? " and others" : ""}, which is empty`];
  const packed = files.find(({ path: file }) => isPacked(cut, file) && !file.endsWith(".gz"));
  if (packed !== undefined) return [`${packed.path}: of what is compressed, rows are read of .gz alone`];
  const inVain = files.find(({ path: file }) => isPackedInVain(cut, file));
  if (inVain !== undefined)
    return [`${inVain.path}: rows of format ${cut.format} are not read of what is compressed; unpack it`];
  const cutOff = files.find(({ length }) => strayBytes(cut, length) > 0);
  if (cutOff === undefined || cut.format !== "fixed") return [];
  return [`${cutOff.path}, whose ${cutOff.length} bytes are no whole rows of ${cut.recordBytes}`];
}

export function forecastFeeds({ feeds = [] }: JobSpec, inputs: FeedInputs["feeds"]): readonly FeedForecast[] {
  return feeds.map(({ name, cut }) => {
    const plan = planOf(inputs[name] ?? [], cut);
    const { files, bytes, splits } = plan;
    return { name, files: files.length, bytes, splits, uncut: uncutFiles(plan) };
  });
}

function uncutFiles({ cut, files }: Plan): number {
  const most = "splitBytes" in cut ? cut.splitBytes : USUAL_SPLIT_BYTES;
  return files.filter(({ path: file, length }) => !isCut(cut, file) && length > most).length;
}

export function feedLine({ name, files, bytes, splits, uncut }: FeedForecast): string {
  const whole =
    uncut === 0 ? "" : `; ${countWords(uncut, "file")} larger than a split, which cannot be cut and so are read whole`;
  return `  feed ${name}: ${countWords(files, "file")}, ${sizeWords(bytes)}, ${countWords(splits, "split")}${whole}`;
}
