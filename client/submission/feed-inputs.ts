import { buffer } from "node:stream/consumers";
import { TonyError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { findFiles } from "../../src/hadoop/hdfs/find-files.ts";
import { ifThere } from "../../src/hadoop/hdfs/if-there.ts";
import { codecOf } from "../../src/history/avro/read.ts";
import { containerMagic } from "../../src/history/avro/schema.ts";
import { type Cut, isCut, isPackedInVain, whyUnreadable } from "../../src/job/feeds/cut.ts";
import type { FeedSpec } from "../../src/job/feeds/feed-spec.ts";
import { type InputFile, Listing } from "../../src/job/feeds/listing.ts";
import { type Plan, planOf } from "../../src/job/feeds/plan.ts";
import { keyFor } from "../../src/job/keys.ts";
import { keyProblem, type Problem } from "../../src/job/problem.ts";
import { countWords, sizeWords } from "../../src/job/reasons/words.ts";
import type { JobSpec } from "../../src/job/spec.ts";
import type { FeedForecast } from "../printed-json.ts";

/** The ApplicationMaster keeps the list in memory, and each of its attempts reads it. */
const MOST_FILES = 100_000;
/** Of files that cannot be cut, those larger than this are reported: they give splits of unusual size. */
const USUAL_SPLIT_BYTES = 64 << 20;
/** The first bytes of files in formats that have a signature. */
const MAGIC: { readonly [F in Cut["format"]]?: Buffer } = { avro: containerMagic, parquet: Buffer.from("PAR1") };
/** How much of an Avro file is read; a longer header is not checked before a task reads it. */
const MOST_HEADER_BYTES = 1 << 16;

type Looked = Pick<FileSystem, "uri" | "stat" | "list" | "open">;

interface FileLookUp {
  locate(pathOrUri: string): { readonly fileSystem: Looked; readonly path: string };
}

/** The files that the inputs of each feed stand for now, by the feed's name, and what is wrong with them. */
export interface FeedInputs {
  readonly feeds: Readonly<Record<string, Listing>>;
  readonly problems: readonly Problem[];
}

/** Reads only the beginning of one file for each place that an input names: to check that it is readable, and for Avro that its codec is known. */
export async function findFeedInputs(spec: JobSpec, fileSystems: FileLookUp): Promise<FeedInputs> {
  const problems: Problem[] = [];
  const feeds: Record<string, Listing> = {};
  for (const feed of spec.feeds ?? []) {
    const key = keyFor("tony.feed.{feed}.input", { feed: feed.name });
    const refuse = (message: string) => problems.push(keyProblem("error", spec, key, `${key} names ${message}`));
    const files: InputFile[] = [];
    const before = problems.length;
    for (const place of feed.input) {
      try {
        const found = await filesAt(fileSystems, place, feed.cut);
        if (found.length === 0 && feed.relistMs === undefined) refuse(`${place}, where there is no file`);
        for (const file of found) files.push(file);
      } catch (error) {
        const isMissing = hasCode(error, "FILE_NOT_FOUND");
        refuse(isMissing ? `${place}, which does not exist` : `${place}, which cannot be read: ${errorMessage(error)}`);
      }
    }
    if (problems.length === before) unusable(feed, files).forEach(refuse);
    if (feed.output !== undefined && (await isThere(fileSystems, feed.output))) {
      const outputKey = keyFor("tony.feed.{feed}.output", { feed: feed.name });
      const message = `${outputKey} names ${feed.output}, which exists already: name another folder, or remove it`;
      problems.push(keyProblem("error", spec, outputKey, message));
    }
    feeds[feed.name] = Listing.of(files);
  }
  return { feeds, problems };
}

async function isThere(fileSystems: FileLookUp, place: string): Promise<boolean> {
  const { fileSystem, path: folder } = fileSystems.locate(place);
  return (await ifThere(fileSystem.stat(folder))) !== undefined;
}

async function filesAt(fileSystems: FileLookUp, place: string, cut: Cut): Promise<readonly InputFile[]> {
  const { fileSystem, path: pattern } = fileSystems.locate(place);
  const files = await findFiles(fileSystem, pattern);
  const [first] = files.filter(({ length }) => length > 0);
  if (first !== undefined) {
    const magic = isPackedInVain(cut, first.path) ? undefined : MAGIC[cut.format];
    const lengthBytes = magic === undefined ? 1 : MOST_HEADER_BYTES;
    const beginning = await buffer(await fileSystem.open(first.path, { lengthBytes }));
    if (magic !== undefined && !magic.equals(beginning.subarray(0, magic.length)))
      throw new TonyError(`${first.path} begins as no file of format ${cut.format}`, { code: "FEED_UNREADABLE" });
    if (cut.format === "avro") checkCodec(first.path, beginning);
  }
  return files.map(({ path: file, ...facts }) => ({ path: `${fileSystem.uri}${file}`, ...facts }));
}

/** Other files may have other codecs: the task that reads them reports that. */
function checkCodec(file: string, beginning: Uint8Array): void {
  const codec = codecOf(beginning) ?? "null";
  if (codec === "null" || codec === "deflate") return;
  const message = `${file} is compressed with ${codec}; only the codecs null and deflate are supported`;
  throw new TonyError(message, { code: "FEED_UNREADABLE" });
}

/** Why the files cannot be handed out. */
function unusable({ cut, relistMs }: FeedSpec, files: readonly InputFile[]): string[] {
  const [first] = files;
  if (files.length > MOST_FILES)
    return [`${countWords(files.length, "file")}: a feed has ${MOST_FILES} at most; put small ones together`];
  if (first !== undefined && relistMs === undefined && files.every(({ length }) => length === 0))
    return [`${first.path}${files.length > 1 ? " and others, which are" : ", which is"} empty`];
  return files.flatMap((file) => whyUnreadable(cut, file) ?? []).slice(0, 1);
}

export function forecastFeeds({ feeds = [] }: JobSpec, inputs: FeedInputs["feeds"]): readonly FeedForecast[] {
  return feeds.map(({ name, cut }) => {
    const plan = planOf(inputs[name] ?? Listing.of([]), cut);
    const { files, bytes, splits } = plan;
    return { name, files: files.size, bytes, splits, ...uncutFiles(plan) };
  });
}

function uncutFiles({ cut, files }: Plan): Pick<FeedForecast, "uncut" | "largestUncut"> {
  const most = "splitBytes" in cut ? cut.splitBytes : USUAL_SPLIT_BYTES;
  let uncut = 0;
  let largest: FeedForecast["largestUncut"];
  for (const { path: file, length } of files) {
    if (isCut(cut, file) || length <= most) continue;
    uncut += 1;
    if (largest === undefined || length > largest.bytes) largest = { path: file, bytes: length };
  }
  return { uncut, ...(largest && { largestUncut: largest }) };
}

export function feedLine({ name, files, bytes, splits, uncut, largestUncut }: FeedForecast): string {
  const counts = `  feed ${name}: ${countWords(files, "file")}, ${sizeWords(bytes)}, ${countWords(splits, "split")}`;
  if (largestUncut === undefined) return counts;
  const { path: file, bytes: size } = largestUncut;
  const named = uncut === 1 ? `: ${file}, ${sizeWords(size)}` : `, the largest ${file}, ${sizeWords(size)}`;
  const are =
    uncut === 1 ? "is larger than a split, cannot be cut and is" : "are larger than a split, cannot be cut and are";
  return `${counts}; ${countWords(uncut, "file")} ${are} read whole${named}`;
}
