import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { feedLine, findFeedInputs, forecastFeeds } from "../../../client/submission/feed-inputs.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { FileStatus, OpenOptions } from "../../../src/hadoop/hdfs/file-system.ts";
import { writeContainer } from "../../../src/history/avro/write.ts";
import type { Cut } from "../../../src/job/feeds/cut.ts";
import type { FeedSpec } from "../../../src/job/feeds/feed-spec.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import { aJobSpec } from "../../support/job-spec.ts";

const MIB = 1 << 20;
const status = (path: string, lengthBytes: number, type: FileStatus["type"] = "FILE"): FileStatus => {
  const facts = { modificationTimeMs: 5, accessTimeMs: 1, permission: 0o644, owner: "a", group: "a" };
  return { path, type, lengthBytes, ...facts };
};
const folder = (path: string) => status(path, 0, "DIRECTORY");
const there = [
  folder("/data"),
  status("/data/.part.crc", 8),
  status("/data/_SUCCESS", 0),
  status("/data/part-0.txt", 3 * MIB),
  status("/data/part-1.txt", MIB),
  folder("/data/2025"),
  status("/data/2025/jan.gz", 9 * MIB),
  folder("/data/2026"),
  status("/data/2026/jan.txt", MIB),
  folder("/empty"),
  folder("/odd"),
  status("/odd/a.bz2", MIB),
  status("/odd/nothing", 0),
  folder("/avro"),
  status("/avro/a.avro", MIB),
  folder("/begun"),
  status("/begun/a.avro", 0),
  status("/begun/b.avro", MIB),
  status("/empty-1", 0),
  status("/empty-2", 0),
  folder("/giant"),
  status("/giant/records", 65 * MIB),
];
const parentOf = (path: string) => path.slice(0, path.lastIndexOf("/")) || "/";
const denied = () => Promise.reject(new FileSystemError("OPEN /odd/a.bz2: it is root's", { code: "ACCESS_DENIED" }));

interface Scene {
  readonly mayRead?: boolean;
  readonly content?: Uint8Array;
  /** Of the feed. */
  readonly changes?: Partial<FeedSpec>;
  /** Before it. */
  readonly others?: readonly FeedSpec[];
  readonly files?: readonly FileStatus[];
}

const aFeed = (name: string, input: readonly string[], cut: Cut): FeedSpec => ({
  ...{ name, input, cut, epochs: 1, window: 2, leaseMs: 1_000, maxAttempts: 3 },
});

/** @returns also how much was read of files */
function inputsOf(
  input: readonly string[],
  cut: Cut = { format: "lines", splitBytes: MIB },
  { mayRead = true, content = new Uint8Array(), changes = {}, others = [], files = [] }: Scene = {},
) {
  const all = [...there, ...files];
  const read: [path: string, lengthBytes: number | undefined][] = [];
  const fileSystem = {
    uri: "hdfs://nn:8020",
    stat: async (path: string) => {
      const found = all.find((one) => one.path === path);
      if (found === undefined) throw new FileSystemError(`${path} is not there`, { code: "FILE_NOT_FOUND" });
      return found;
    },
    list: async (path: string) => all.filter((one) => parentOf(one.path) === path),
    open: async (path: string, { lengthBytes }: OpenOptions = {}) => {
      read.push([path, lengthBytes]);
      if (!mayRead) return await denied();
      const isEmpty = !path.endsWith(".avro") || all.some((one) => one.path === path && one.lengthBytes === 0);
      return Readable.from([content.slice(0, isEmpty ? 0 : (lengthBytes ?? 0))]);
    },
  };
  const locate = (place: string) => ({ fileSystem, path: place.replace(/^hdfs:\/\/nn/, "") });
  const feeds = [...others, { ...aFeed("train", input, cut), ...changes }];
  const spec = aJobSpec({ feeds, sources: { "tony.feed.train.input": "job.xml:9" } });
  return findFeedInputs(spec, { locate }).then((found) => ({ spec, read, ...found }));
}

async function filesOf(...input: readonly string[]): Promise<readonly string[] | undefined> {
  const { feeds, problems } = await inputsOf(input);
  expect(problems).toEqual([]);
  return feeds.train && [...feeds.train].map(({ path }) => path.replace("hdfs://nn:8020/data/", ""));
}

describe("the input of a feed", () => {
  test("of a folder are the files directly in it, but for those that Hadoop hides", async () => {
    expect(await filesOf("hdfs://nn/data")).toEqual(["part-0.txt", "part-1.txt"]);
  });

  test("with a pattern are those that it fits, at every depth", async () => {
    expect(await filesOf("/data/part-?.txt")).toEqual(["part-0.txt", "part-1.txt"]);
    expect(await filesOf("/data/20*/jan.{gz,txt}")).toEqual(["2025/jan.gz", "2026/jan.txt"]);
    expect(await filesOf("/*/2026", "/data/_SUCCESS")).toEqual(["2026/jan.txt", "_SUCCESS"]);
    expect(await filesOf("/data/20*/jan.txt")).toEqual(["2026/jan.txt"]);
  });

  test("is kept with what tells later whether a file has changed", async () => {
    const { feeds } = await inputsOf(["/data/part-1.txt"]);
    expect([...(feeds.train ?? [])]).toEqual([{ path: "hdfs://nn:8020/data/part-1.txt", length: MIB, modifiedMs: 5 }]);
  });

  const lines: Cut = { format: "lines", splitBytes: MIB };
  test.each<[what: string, input: string, cut: Cut, problem: string]>([
    ["that does not exist", "/data/none", lines, "/data/none, which does not exist"],
    ["that fits nothing", "/data/*.csv", lines, "/data/*.csv, where there is no file"],
    ["of a folder without files", "/empty", lines, "/empty, where there is no file"],
    ["that is empty", "/odd/nothing", lines, "hdfs://nn:8020/odd/nothing, which is empty"],
    ["whose files are empty", "/empty-*", lines, "hdfs://nn:8020/empty-1 and others, which are empty"],
    [
      "of which several files cannot be read, the first of them",
      "/data/20*/jan.*",
      { format: "fixed", splitBytes: MIB, recordBytes: 7 },
      "hdfs://nn:8020/data/2025/jan.gz: rows of format fixed are not read of what is compressed; unpack it",
    ],
    [
      "that cannot be unpacked",
      "/odd/*.bz2",
      lines,
      "hdfs://nn:8020/odd/a.bz2: the only compressed files that are read are .gz",
    ],
    [
      "of rows of one length that are compressed",
      "/data/*/jan.gz",
      { format: "fixed", splitBytes: MIB, recordBytes: 1 },
      "hdfs://nn:8020/data/2025/jan.gz: rows of format fixed are not read of what is compressed; unpack it",
    ],
    [
      "of Avro files that are packed as a whole",
      "/data/*/jan.gz",
      { format: "avro", splitBytes: MIB },
      "hdfs://nn:8020/data/2025/jan.gz: rows of format avro are not read of what is compressed; unpack it",
    ],
    [
      "of broken rows",
      "/data/part-1.txt",
      { format: "fixed", splitBytes: MIB, recordBytes: 7 },
      "hdfs://nn:8020/data/part-1.txt, whose 1048576 bytes are not a whole number of rows of 7",
    ],
  ])("%s is an error at its key", async (_what, input, cut, problem) => {
    const { problems } = await inputsOf([input], cut);
    expect(problems.map(formatProblem)).toEqual([`job.xml:9: tony.feed.train.input names ${problem}`]);
  });

  test("may be of nothing yet, or of nothing but empty files, where it is looked at again", async () => {
    for (const place of ["/empty", "/odd/nothing"])
      expect(await inputsOf([place], lines, { changes: { relistMs: 1_000 } })).toMatchObject({ problems: [] });
  });

  test("is of 100,000 files at most, which the ApplicationMaster can hold", async () => {
    const files = Array.from({ length: 100_001 }, (_, index) => status(`/many/${index}`, 1));
    const of = (some: readonly FileStatus[]) => inputsOf(["/many"], lines, { files: [folder("/many"), ...some] });
    expect((await of(files.slice(1))).problems).toEqual([]);
    expect((await of(files)).problems.map(({ message }) => message)).toEqual([
      "tony.feed.train.input names 100001 files: a feed has 100000 at most; put small ones together",
    ]);
  });

  test("of several places is all of their files, of several feeds each one's own, and all that is wrong is told at once", async () => {
    expect(await filesOf("/data/part-0.txt", "/data/part-1.txt")).toEqual(["part-0.txt", "part-1.txt"]);
    const others = [aFeed("eval", ["/data/none"], lines)];
    const changes = { output: "/data/2025" };
    const { feeds, problems } = await inputsOf(["/odd/nothing"], lines, { others, changes });
    expect(Object.entries(feeds).map(([name, files]) => [name, [...files].length])).toEqual([
      ["eval", 0],
      ["train", 1],
    ]);
    expect(problems.map(({ message }) => message.split(",")[0])).toEqual([
      "tony.feed.eval.input names /data/none",
      "tony.feed.train.input names hdfs://nn:8020/odd/nothing",
      "tony.feed.train.output names /data/2025",
    ]);
  });

  test("of which a place is missing is told as that alone", async () => {
    const { problems } = await inputsOf(["/odd/nothing", "/data/none"]);
    expect(problems.map(({ message }) => message)).toEqual([
      "tony.feed.train.input names /data/none, which does not exist",
    ]);
  });

  test.each<[string, Cut, string, number]>([
    ["one byte, of each place", lines, "/data/part-*", 1],
    ["what tells an Avro file and its codec", { format: "avro", splitBytes: MIB }, "/avro", 65_536],
    ["one byte of what is refused by its name", { format: "avro", splitBytes: MIB }, "/data/2025", 1],
  ])("is read to see whether that may be: %s", async (_what, cut, place, lengthBytes) => {
    const { read } = await inputsOf([place], cut, { content: writeContainer("string", [], Buffer.alloc(16)) });
    expect(read).toEqual([[expect.any(String), lengthBytes]]);
  });

  test("that may not be read is an error before anything runs", async () => {
    const { problems } = await inputsOf(["/data/part-1.txt"], lines, { mayRead: false });
    const why = "/data/part-1.txt, which cannot be read: OPEN /odd/a.bz2: it is root's";
    expect(problems.map(({ message }) => message)).toEqual([`tony.feed.train.input names ${why}`]);
  });

  test("is what its format says, and of a codec that is read", async () => {
    const avro: Cut = { format: "avro", splitBytes: MIB };
    const said = async (content: Uint8Array, cut: Cut = avro) => {
      const { problems } = await inputsOf(["/avro"], cut, { content });
      return problems.map(({ message }) => message);
    };
    const file = writeContainer("string", [], Buffer.alloc(16)).toString("latin1");
    expect(await said(Buffer.from(file, "latin1"))).toEqual([]);
    const packed = Buffer.from(file.replace("\u0008null", "\u000csnappy"), "latin1");
    const why = "/avro/a.avro is compressed with snappy; only the codecs null and deflate are supported";
    expect(await said(packed)).toEqual([`tony.feed.train.input names /avro, which cannot be read: ${why}`]);
    expect(await said(Buffer.from("PAR1"), { ...avro, format: "parquet" })).toEqual([]);
    expect(await said(Buffer.from(file.replace("\u0008null", "\u000edeflate"), "latin1"))).toEqual([]);
    expect(await said(Buffer.from("Obj"), { ...avro, format: "parquet" })).toEqual([
      "tony.feed.train.input names /avro, which cannot be read: /avro/a.avro begins as no file of format parquet",
    ]);
    // Of a header that is longer than what is read nothing is known.
    expect(await said(packed.subarray(0, 9))).toEqual([]);
    expect(await said(Buffer.from("PAR1"))).toEqual([
      "tony.feed.train.input names /avro, which cannot be read: /avro/a.avro begins as no file of format avro",
    ]);
  });

  test.each(["avro", "parquet"] as const)("may begin with an empty file, which no %s file is", async (format) => {
    const content = format === "avro" ? writeContainer("string", [], Buffer.alloc(16)) : Buffer.from("PAR1");
    const { feeds, problems } = await inputsOf(["/begun"], { format, splitBytes: MIB }, { content });
    expect(problems).toEqual([]);
    expect([...(feeds.train ?? [])].map(({ length }) => length)).toEqual([0, MIB]);
  });

  test("has a folder of results that is not there yet", async () => {
    const [there, notThere] = await Promise.all(
      ["/data/2025", "/data/out"].map((output) => inputsOf(["/data/part-1.txt"], lines, { changes: { output } })),
    );
    const words = "tony.feed.train.output names /data/2025, which exists already: name another folder, or remove it";
    expect(there?.problems.map(({ message }) => message)).toEqual([words]);
    expect(notThere?.problems).toEqual([]);
  });

  test("is shown with its splits, and what is too large for one", async () => {
    const { spec, feeds } = await inputsOf(["/data/part-*", "/data/2025"]);
    const [forecast] = forecastFeeds(spec, feeds);
    const largestUncut = { path: "hdfs://nn:8020/data/2025/jan.gz", bytes: 9 * MIB };
    expect(forecast).toEqual({ name: "train", files: 3, bytes: 13 * MIB, splits: 5, uncut: 1, largestUncut });
    expect(forecastFeeds(spec, {})).toEqual([{ name: "train", files: 0, bytes: 0, splits: 0, uncut: 0 }]);
    const records = await inputsOf(["/data/2025", "/giant"], { format: "tfrecord" });
    expect(forecastFeeds(records.spec, records.feeds)).toMatchObject([{ files: 2, splits: 2, uncut: 1 }]);
    const sizes = [2, 5, 5, 1].map((size, index) => status(`/packed/${index}.gz`, size * MIB));
    const packed = await inputsOf(["/packed/*"], lines, { files: [folder("/packed"), ...sizes] });
    expect(forecastFeeds(packed.spec, packed.feeds)).toMatchObject([
      { uncut: 3, largestUncut: { path: "hdfs://nn:8020/packed/1.gz", bytes: 5 * MIB } },
    ]);
    expect(forecast && feedLine(forecast)).toBe(
      "  feed train: 3 files, 13 MiB, 5 splits; 1 file is larger than a split, cannot be cut and is read whole: hdfs://nn:8020/data/2025/jan.gz, 9 MiB",
    );
    const { largestUncut: _, ...allCut } = {
      ...forecast,
      name: "train",
      files: 3,
      bytes: 13 * MIB,
      splits: 5,
      uncut: 0,
    };
    expect(feedLine(allCut)).toBe("  feed train: 3 files, 13 MiB, 5 splits");
    expect(forecast && feedLine({ ...forecast, uncut: 2 })).toContain(
      "; 2 files are larger than a split, cannot be cut and are read whole, the largest hdfs://nn:8020/data/2025/jan.gz, 9 MiB",
    );
  });
});
