import { splitUri } from "../../hadoop/hdfs/file-systems.ts";
import type { Cut } from "../feeds/cut.ts";
import type { Boundary, FeedSpec, Uneven } from "../feeds/feed-spec.ts";
import { findKey, type KeyParameters, keyFor } from "../keys.ts";
import { nearest } from "../nearest.ts";
import type { RoleSpec } from "../spec.ts";
import { isOneStage } from "../stages.ts";
import type { JobReader } from "./job-reader.ts";
import { isOfCluster } from "./resource-strings.ts";

type JobRole = Pick<RoleSpec, "name" | "dependsOn">;

const BYTES_PER_MIB = 1 << 20;

/** The feeds described by a job's keys, by name. */
export function buildFeeds(reader: JobReader, roles: readonly JobRole[]): readonly FeedSpec[] {
  const asked = new Map<string, string>();
  for (const key of reader.settings.keys()) {
    const { name, parameters } = findKey(key) ?? {};
    if (name?.startsWith("tony.feed.") && parameters?.feed !== undefined && !asked.has(parameters.feed))
      asked.set(parameters.feed, key);
  }
  return [...asked].sort().flatMap(([feed, key]) => {
    const own = { feed };
    if (reader.has("tony.feed.{feed}.input", own)) return buildFeed(reader, own, feed, roles);
    const read = [...asked.keys()].filter((other) => reader.has("tony.feed.{feed}.input", { feed: other }));
    const meant = nearest(feed, read);
    const hint = meant === undefined ? "" : `; did you mean feed ${meant}?`;
    reader.error(key, `needs ${keyFor("tony.feed.{feed}.input", own)}: what the feed ${feed} reads${hint}`);
    return [];
  });
}

function buildFeed(reader: JobReader, own: KeyParameters, name: string, jobRoles: readonly JobRole[]): FeedSpec[] {
  const key = keyFor("tony.feed.{feed}.input", own);
  const input = reader.read("tony.feed.{feed}.input", own) ?? [];
  if (input.length === 0) reader.error(key, "names no file");
  for (const one of input.filter((place) => !isPlace(place))) reader.error(key, notPlace(one));
  const cut = readCut(reader, own);
  const output = readOutput(reader, own);
  const uneven = readUneven(reader, own);
  const roles = readRoles(reader, own, jobRoles);
  const boundary = readBoundary(reader, own);
  const epochs = boundary === "infinite" ? 0 : reader.read("tony.feed.{feed}.epochs", own);
  const seed = reader.read("tony.feed.{feed}.shuffle", own);
  if (cut === undefined) return [];
  return [
    {
      name,
      input,
      cut,
      ...(output !== undefined && { output }),
      ...(epochs === 0 ? {} : { epochs }),
      ...(seed === undefined ? {} : { seed }),
      ...readGrowth(reader, own),
      window: reader.read("tony.feed.{feed}.window", own),
      leaseMs: reader.read("tony.feed.{feed}.timeout", own),
      maxAttempts: reader.read("tony.feed.{feed}.max-attempts", own),
      ...(boundary === undefined ? {} : { boundary }),
      ...(uneven === undefined ? {} : { uneven }),
      ...(reader.read("tony.feed.{feed}.locality", own) ? {} : { locality: false }),
      ...(roles.length === 0 ? {} : { roles }),
    },
  ];
}

function readOutput(reader: JobReader, own: KeyParameters): string | undefined {
  const output = reader.read("tony.feed.{feed}.output", own);
  if (output === undefined) return undefined;
  const key = keyFor("tony.feed.{feed}.output", own);
  if (!isPlace(output)) reader.error(key, notPlace(output));
  const epochs = keyFor("tony.feed.{feed}.epochs", own);
  if (reader.read("tony.feed.{feed}.epochs", own) !== 1)
    reader.error(key, `needs ${epochs} = 1: a split has one file of results`);
  return output;
}

function readUneven(reader: JobReader, own: KeyParameters): Uneven | undefined {
  const uneven = reader.read("tony.feed.{feed}.uneven", own);
  const key = keyFor("tony.feed.{feed}.uneven", own);
  const [epochs, output] = [keyFor("tony.feed.{feed}.epochs", own), keyFor("tony.feed.{feed}.output", own)];
  if (uneven === "stop-together" && reader.read("tony.feed.{feed}.epochs", own) !== 1)
    reader.error(key, `= stop-together ends with the first epoch: leave ${epochs} out, or take drop or pad`);
  if (uneven !== undefined && reader.has("tony.feed.{feed}.output", own))
    reader.error(key, `cannot be combined with ${output}: leave one of them out`);
  return uneven;
}

/** A growing input excludes everything that needs a complete epoch. */
function readGrowth(reader: JobReader, own: KeyParameters): Pick<FeedSpec, "relistMs" | "until"> {
  const [relist, until] = [keyFor("tony.feed.{feed}.relist", own), keyFor("tony.feed.{feed}.until", own)];
  const relistMs = reader.read("tony.feed.{feed}.relist", own);
  const end = reader.read("tony.feed.{feed}.until", own);
  if (end !== undefined && !isPlace(end)) reader.error(until, notPlace(end));
  if (relistMs === undefined) {
    if (end !== undefined) reader.error(until, `needs ${relist}: how often new files are looked for`);
    return {};
  }
  if (reader.read("tony.feed.{feed}.epochs", own) !== 1)
    reader.error(relist, `needs ${keyFor("tony.feed.{feed}.epochs", own)} = 1: what grows is read once`);
  for (const name of ["boundary", "uneven"] as const)
    if (reader.has(`tony.feed.{feed}.${name}`, own))
      reader.error(relist, `cannot be combined with ${keyFor(`tony.feed.{feed}.${name}`, own)}: leave one of them out`);
  if (end === undefined && reader.has("tony.feed.{feed}.output", own))
    reader.error(relist, `needs ${until}: results are complete only when no more files arrive`);
  return { relistMs, ...(end !== undefined && { until: end }) };
}

/** Undefined: an epoch begins when the previous one is used up. */
function readBoundary(reader: JobReader, own: KeyParameters): Boundary | undefined {
  const boundary = reader.read("tony.feed.{feed}.boundary", own);
  if (boundary === "barrier") return undefined;
  const refuse = (why: string) => reader.error(keyFor("tony.feed.{feed}.boundary", own), `= ${boundary} ${why}`);
  const other = (name: "epochs" | "output" | "uneven") => keyFor(`tony.feed.{feed}.${name}`, own);
  if (boundary === "infinite" && reader.has("tony.feed.{feed}.epochs", own))
    refuse(`has no end: leave ${other("epochs")} out, or take overlap`);
  if (reader.has("tony.feed.{feed}.output", own))
    refuse(`cannot be combined with ${other("output")}, whose splits are read once: leave one of them out`);
  if (reader.has("tony.feed.{feed}.uneven", own))
    refuse(`cannot be combined with ${other("uneven")}, which counts the steps of each epoch: leave one of them out`);
  if (boundary === "overlap" && reader.read("tony.feed.{feed}.epochs", own) === 1)
    reader.warn(keyFor("tony.feed.{feed}.boundary", own), `= overlap has no effect: ${other("epochs")} is 1`);
  return boundary;
}

function readRoles(reader: JobReader, own: KeyParameters, jobRoles: readonly JobRole[]): readonly string[] {
  const roles = reader.read("tony.feed.{feed}.roles", own) ?? [];
  const key = keyFor("tony.feed.{feed}.roles", own);
  const names = jobRoles.map(({ name }) => name);
  const strange = roles.filter((role) => !names.includes(role));
  for (const role of strange) {
    const meant = nearest(role, names);
    const hint = meant === undefined ? `it has ${names.join(", ")}` : `did you mean ${meant}?`;
    reader.error(key, `names ${role}, which is not a role of the job; ${hint}`);
  }
  const [first = ""] = roles;
  const later = roles.find((role) => strange.length === 0 && !isOneStage(jobRoles, first, role));
  if (later !== undefined)
    reader.error(
      key,
      `names ${first} and ${later}, which belong to two stages: define a feed for each, with the same input`,
    );
  return roles;
}

function notPlace(place: string): string {
  return `names ${place}: write an absolute path or a URL of hdfs, viewfs or file`;
}

function isPlace(place: string): boolean {
  const scheme = splitUri(place)?.root.scheme;
  return scheme === undefined ? place.startsWith("/") : scheme === "file" || isOfCluster(scheme);
}

/** Undefined where it is incomplete, which is an error. */
function readCut(reader: JobReader, own: KeyParameters): Cut | undefined {
  const format = reader.read("tony.feed.{feed}.format", own);
  const recordBytes = reader.read("tony.feed.{feed}.record-size", own);
  const splitBytes = reader.read("tony.feed.{feed}.split-size", own) * BYTES_PER_MIB;
  if (recordBytes !== undefined && format !== "fixed")
    reader.warn(keyFor("tony.feed.{feed}.record-size", own), "has no effect: only the format fixed uses it");
  if (format === "file" || format === "tfrecord") return { format };
  if (format !== "fixed") return { format, splitBytes };
  if (recordBytes !== undefined) return { format, splitBytes, recordBytes };
  const size = keyFor("tony.feed.{feed}.record-size", own);
  reader.error(keyFor("tony.feed.{feed}.format", own), `= fixed needs ${size}: how many bytes a row has`);
  return undefined;
}
