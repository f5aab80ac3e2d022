import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "@jest/globals";
import { feedShape } from "../../../am/core/feeds/feed-file.ts";
import type { DurableFeed } from "../../../am/core/feeds/records.ts";
import type { LifeEnd } from "../../../am/core/feeds/step.ts";
import { type Found, foundShape } from "../../../am/executors/growing-input.ts";
import { JobFeeds, type JobFeedsOptions, type ReadingLife } from "../../../am/executors/job-feeds.ts";
import { journalClosed, type WrittenFile } from "../../../am/storage/sealed-journal.ts";
import type { FeedCall } from "../../../src/api/messages.ts";
import { TonyError } from "../../../src/errors.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import type { FeedSpec } from "../../../src/job/feeds/feed-spec.ts";
import type { GivenSplit } from "../../../src/job/feeds/lease.ts";
import { Listing } from "../../../src/job/feeds/listing.ts";
import { eventually } from "../../support/eventually.ts";
import { SteppedClock, turn } from "../../support/stepped-clock.ts";

const FILE = { path: "hdfs://nn/data", length: 25, modifiedMs: 7 };
const folder = mkdtempSync(path.join(tmpdir(), "tony-results-"));
afterAll(() => rmSync(folder, { recursive: true }));
const output = path.join(folder, "out");

const TRAIN: FeedSpec = {
  name: "train",
  input: ["/data"],
  cut: { format: "lines", splitBytes: 10 },
  epochs: 1,
  window: 1,
  leaseMs: 60_000,
  maxAttempts: 2,
};

/** A journal in memory, and the job's tasks. */
class Scene {
  readonly clock = new SteppedClock();
  readonly files: WrittenFile<DurableFeed>[] = [];
  readonly inputs: WrittenFile<Found>[] = [];
  readonly lives = new Map<string, ReadingLife>([
    ["worker:0", { generation: 1, gang: 1 }],
    ["worker:1", { generation: 1, gang: 1 }],
  ]);
  readonly warnings: string[] = [];
  broken: Error | undefined;
  end: LifeEnd = "gone";
  knowsLives = true;

  feeds(feed = TRAIN): JobFeeds {
    return new JobFeeds(this.options(feed));
  }

  options(feed = TRAIN): JobFeedsOptions {
    return {
      feeds: [feed],
      tasks: 2,
      inputs: { train: Listing.of([FILE]) },
      fileSystems: { locate: (place) => ({ fileSystem: new LocalFileSystem(), path: place }) },
      clock: this.clock,
      log: { warn: (event, message) => void this.warnings.push(`${event}: ${message}`) },
      journalOf: () => ({
        read: async () => {
          if (this.broken !== undefined) throw this.broken;
          return this.files;
        },
        write: async ({ content }) => {
          if (this.broken !== undefined) throw this.broken;
          this.files.push({ attempt: 1, file: feedShape(JSON.parse(content), "") });
        },
      }),
      inputJournalOf: () => ({
        read: async () => this.inputs,
        write: async ({ content }) => {
          if (this.broken !== undefined) throw this.broken;
          this.inputs.push({ attempt: 1, file: foundShape(JSON.parse(content), "") });
        },
      }),
      lifeOf: (task) => this.lives.get(task),
      endOf: () => this.end,
      knowsLives: () => this.knowsLives,
    };
  }
}

const never = new AbortController().signal;
const ask = (feeds: JobFeeds, call: FeedCall, task = "worker:0", gone = never, generation = 1) =>
  feeds.ask({ feed: "train", task, generation, call, gone });
const wants: FeedCall = { type: "ask", most: 1, atOnce: false, has: [] };

async function opened(scene: Scene): Promise<JobFeeds> {
  const feeds = scene.feeds();
  for (const task of ["worker:0", "worker:1"])
    expect(await ask(feeds, { type: "open" }, task)).toEqual({ type: "opened", epoch: 0 });
  return feeds;
}

async function given(feeds: JobFeeds, task = "worker:0"): Promise<GivenSplit> {
  const answer = await ask(feeds, wants, task);
  const split = answer.type === "given" ? answer.splits[0] : undefined;
  if (split === undefined) throw new Error(`nothing was given: ${answer.type}`);
  return split;
}

let scene: Scene;
beforeEach(() => {
  scene = new Scene();
});

describe("the feeds of a job", () => {
  test("give splits with their bytes, once the journal holds who has them", async () => {
    const feeds = await opened(scene);
    const split = await given(feeds);
    expect(split).toEqual({
      lease: { number: 1, epoch: 0, position: 0 },
      ...{ split: 0, skip: 0, path: "hdfs://nn/data", start: 0, end: 10, length: 25, modifiedMs: 7 },
    });
    expect(scene.files.at(-1)?.file.leases).toEqual({ 0: { number: 1, task: "worker:0" } });
    expect(await ask(feeds, { type: "used", records: 5, lease: split.lease })).toEqual({ type: "noted" });
    expect(await given(feeds)).toMatchObject({ start: 10, end: 20 });
    expect(await given(feeds, "worker:1")).toMatchObject({ start: 20, end: 25 });
  });

  test("wait for no more tasks at a mark, or for steps, than the job has", async () => {
    const feeds = await opened(new Scene());
    const among = Array.from({ length: 60_000 }, (_, index) => `w${index}`);
    const said = { type: "refused", code: "invalid", message: "it names 60000 tasks, and the job has 2" };
    expect(await ask(feeds, { type: "mark", label: "1", among, begun: [] })).toEqual(said);
    expect(await ask(feeds, { type: "steps", epoch: 0, ready: 1, known: 0, dry: false, among })).toEqual(said);
  });

  test("give a split first to a task on a machine that has it, as far as that is known", async () => {
    scene.lives.set("worker:0", { generation: 1, gang: 1, host: "near" });
    scene.lives.set("worker:1", { generation: 1, gang: 1, host: "far" });
    const asked: [string, number | undefined][] = [];
    const known: Record<number, readonly string[]> = { 30: ["near"], 40: ["far", "near"] };
    const fileSystem = Object.assign(new LocalFileSystem(), {
      blockAt: async (file: string, offset?: number) => {
        asked.push([file, offset]);
        const hosts = known[offset ?? 0];
        if (hosts === undefined) throw new Error("the NameNode is away");
        return { isBeingWritten: false, hosts };
      },
    });
    const feeds = new JobFeeds({
      ...scene.options(),
      inputs: { train: Listing.of([{ ...FILE, length: 60 }]) },
      fileSystems: { locate: (place) => ({ fileSystem, path: place }) },
    });
    for (const task of ["worker:0", "worker:1"]) {
      await ask(feeds, { type: "open" }, task);
      const { lease } = await given(feeds, task);
      await ask(feeds, { type: "used", lease, records: 1 }, task);
    }
    await turn();
    expect(asked).toEqual([20, 30, 40, 50].map((offset) => [FILE.path, offset]));
    expect(await given(feeds)).toMatchObject({ start: 30 });
    expect(await given(feeds, "worker:1")).toMatchObject({ start: 40 });
    const words = "Of splits of feed train it is not known which machines have them, and each goes to any task";
    expect(scene.warnings).toEqual([`feed-not-located: ${words}: the NameNode is away`]);
  });

  test("show how far they are, and what each task has used, to people", async () => {
    const nothing = { epoch: 0, epochs: 1, splits: 3, used: 0, leftOut: 0, failures: [], triedAgain: 0, readers: [] };
    expect(scene.feeds().status()).toEqual({ feeds: [{ name: "train", ...nothing }] });
    const feeds = await opened(scene);
    const sinceMs = scene.clock.nowMs();
    const { lease } = await given(feeds);
    await scene.clock.pass(2_000);
    await ask(feeds, { type: "used", lease, records: 5 });
    const first = { task: "worker:0", splits: 1, rows: 5, sinceMs, usedAtMs: sinceMs + 2_000, isDone: false };
    const second = { task: "worker:1", splits: 0, rows: 0, sinceMs, usedAtMs: sinceMs, isDone: false };
    expect(feeds.status()).toEqual({ feeds: [{ name: "train", ...nothing, used: 1, readers: [first, second] }] });
    const { lease: again } = await given(feeds);
    await ask(feeds, { type: "failed", lease: again, error: "away" });
    scene.end = "succeeded";
    scene.lives.delete("worker:1");
    feeds.look();
    await turn();
    expect(feeds.status().feeds).toMatchObject([{ triedAgain: 1, readers: [{ isDone: false }, { isDone: true }] }]);
    expect(new JobFeeds({ ...scene.options(), feeds: [] }).status()).toEqual({});
  });

  test("are known to a later attempt", async () => {
    const { lease } = await given(await opened(scene));
    const later = scene.feeds();
    const has = [lease.number];
    expect(await ask(later, { ...wants, has: [] })).toMatchObject({ type: "given", splits: [{ lease }] });
    expect(await ask(later, { type: "used", records: 5, lease })).toEqual({ type: "noted" });
    expect(await ask(later, { ...wants, has })).toMatchObject({ splits: [{ start: 10 }] });
  });

  test("hand out what a lost task had", async () => {
    const feeds = await opened(scene);
    await given(feeds);
    scene.lives.set("worker:0", { generation: 2, gang: 1 });
    feeds.look();
    await turn();
    expect(await given(feeds, "worker:1")).toMatchObject({ start: 0 });
    expect(await ask(feeds, wants)).toMatchObject({ type: "refused", code: "stale" });
  });

  test("take nothing from tasks, and answer none, while it is not known which live", async () => {
    const feeds = await opened(scene);
    await given(feeds);
    scene.knowsLives = false;
    scene.lives.delete("worker:0");
    feeds.look();
    await expect(ask(feeds, wants, "worker:1")).rejects.toMatchObject({ code: "LIVES_UNKNOWN" });
    await turn();
    scene.knowsLives = true;
    expect(await given(feeds, "worker:1")).toMatchObject({ start: 10 });
  });

  test("give a cursor to begin with, when all have come to a mark", async () => {
    const feeds = await opened(scene);
    const { lease } = await given(feeds);
    const mark = { type: "mark", label: "1", among: ["worker:0", "worker:1"] } as const;
    const first = ask(feeds, { ...mark, begun: [{ lease, records: 3 }] });
    const second = await ask(feeds, { ...mark, begun: [] }, "worker:1");
    if (second.type !== "cursor") throw new Error(`it is ${second.type}`);
    expect(await first).toEqual(second);
    expect(JSON.parse(second.cursor)).toMatchObject({ epoch: 0, used: [], partly: { 0: 3 } });
    scene.lives.set("worker:0", { generation: 2, gang: 2 });
    feeds.look();
    const { cursor } = second;
    expect(await ask(feeds, { type: "open", cursor }, "worker:0", never, 2)).toEqual({ type: "opened", epoch: 0 });
    expect(await ask(feeds, wants, "worker:0", never, 2)).toMatchObject({ splits: [{ start: 0, skip: 3 }] });
  });

  test("leave a split out that fails too often, and say which and why", async () => {
    const feeds = await opened(scene);
    for (const _ of [1, 2]) {
      const { lease } = await given(feeds);
      await ask(feeds, { type: "failed", lease, error: "it is damaged" });
    }
    const which = "Split 0 of feed train (hdfs://nn/data, bytes 0 to 10)";
    expect(scene.warnings).toEqual([
      `split-tried-again: ${which} goes to the next task that asks: it is damaged`,
      `split-left-out: ${which} failed 2 times and is left out: it is damaged`,
    ]);
    const failures = [{ split: 0, path: "hdfs://nn/data", start: 0, end: 10, reason: "it is damaged" }];
    expect(feeds.status().feeds).toMatchObject([{ splits: 3, leftOut: 1, failures }]);
    const later = scene.feeds();
    later.recover();
    await turn();
    expect(later.status().feeds).toMatchObject([{ splits: 3, leftOut: 1, failures, readers: [{ splits: 0 }, {}] }]);
    expect(await given(feeds)).toMatchObject({ start: 10 });
  });

  test("end once their results are told of, and say which splits have none", async () => {
    const useAll = async () => {
      const feeds = scene.feeds({ ...TRAIN, output });
      await ask(feeds, { type: "open" });
      for (;;) {
        const answer = await ask(feeds, wants);
        if (answer.type !== "given") return answer;
        for (const { lease } of answer.splits) await ask(feeds, { type: "used", records: 5, lease });
      }
    };
    mkdirSync(path.join(output, "_temporary"), { recursive: true });
    for (const part of ["part-0000000", "part-0000002"]) writeFileSync(path.join(output, part), "x\n");
    expect(await useAll()).toEqual({ type: "ended" });
    const manifest: unknown = JSON.parse(readFileSync(path.join(output, "_manifest.json"), "utf8"));
    const input = FILE.path;
    const first = { input, start: 0, end: 10, part: "part-0000000", bytes: 2 };
    const last = { input, start: 20, end: 25, part: "part-0000002", bytes: 2 };
    expect(manifest).toEqual({ splits: [first, { input, start: 10, end: 20 }, last] });
    expect(readdirSync(output)).toEqual(["_manifest.json", "part-0000000", "part-0000002"]);
    const words = `${output} has no results of 1 split of feed train: _manifest.json there says of which`;
    expect(scene.warnings).toEqual([`feed-results-incomplete: ${words}`]);
    writeFileSync(path.join(output, "part-0000001"), "");
    await useAll();
    expect(readdirSync(output)).toContain("_SUCCESS");
    const modes = ["_manifest.json", "_SUCCESS"].map((name) => statSync(path.join(output, name)).mode & 0o777);
    expect(modes).toEqual([0o640, 0o640]);
    expect(scene.warnings).toHaveLength(1);
  });

  test("say which splits have no results where a job ends before, unless none has", async () => {
    const left = path.join(folder, "left");
    const feeds = scene.feeds({ ...TRAIN, output: left });
    await feeds.end();
    await ask(feeds, { type: "open" });
    await feeds.end();
    expect(existsSync(left)).toBe(false);
    const { lease } = await given(feeds);
    await ask(feeds, { type: "used", records: 5, lease });
    // What cannot be told now is told when the end is tried again.
    writeFileSync(left, "no folder");
    await expect(feeds.end()).rejects.toThrow();
    rmSync(left);
    mkdirSync(left, { recursive: true });
    writeFileSync(path.join(left, "part-0000000"), "x\n");
    await feeds.end();
    const { splits } = JSON.parse(readFileSync(path.join(left, "_manifest.json"), "utf8"));
    expect(splits.map(({ part }: { readonly part?: string }) => part)).toEqual(["part-0000000", undefined, undefined]);
    expect(readdirSync(left)).toEqual(["_manifest.json", "part-0000000"]);
  });

  test("forget who waits when nobody hears the answer any more", async () => {
    const feeds = await opened(scene);
    const { lease } = await given(feeds);
    const others = [await given(feeds, "worker:1")];
    await ask(feeds, { type: "used", records: 5, lease });
    others.push(await given(feeds));
    const gone = new AbortController();
    for (const { lease: other } of others.slice(0, 1))
      await ask(feeds, { type: "used", records: 5, lease: other }, "worker:1");
    const waits = ask(feeds, wants, "worker:1", gone.signal);
    await turn();
    gone.abort();
    await turn();
    expect(await Promise.race([waits, Promise.resolve("unanswered")])).toBe("unanswered");
    await ask(feeds, { type: "used", records: 5, lease: others[1]?.lease ?? lease });
    expect(await ask(feeds, wants, "worker:1")).toEqual({ type: "ended" });
  });

  test("write again what could not be written, and nothing more once the journal is closed", async () => {
    const feeds = await opened(scene);
    scene.broken = new Error("the NameNode is away");
    const waits = given(feeds);
    await turn();
    expect(scene.warnings).toEqual(["feed-not-journaled: Feed train is not journaled yet: the NameNode is away"]);
    scene.broken = undefined;
    await scene.clock.pass(1_000);
    expect(await waits).toMatchObject({ start: 0 });
    scene.broken = new TonyError("closed", { code: journalClosed });
    void ask(feeds, wants, "worker:1");
    await scene.clock.pass(5_000);
    expect(scene.warnings).toHaveLength(1);
  });

  test("refuse a feed that there is not, a cursor that is none, and an earlier life", async () => {
    const feeds = await opened(scene);
    const none = { feed: "test", task: "worker:0", generation: 1, call: wants, gone: never };
    expect(await feeds.ask(none)).toMatchObject({
      code: "invalid",
      message: "the job has no feed test: there is train",
    });
    expect(await ask(feeds, { type: "open", cursor: "{}" })).toMatchObject({ type: "refused", code: "invalid" });
    expect(await ask(feeds, wants, "worker:0", never, 9)).toMatchObject({ type: "refused", code: "stale" });
  });

  test("can be read later where what was left cannot be read now", async () => {
    scene.broken = new Error("the NameNode is away");
    const feeds = scene.feeds();
    await expect(ask(feeds, { type: "open" })).rejects.toThrow("the NameNode is away");
    scene.broken = undefined;
    expect(await ask(feeds, { type: "open" })).toEqual({ type: "opened", epoch: 0 });
  });
});

describe("a feed whose input grows", () => {
  const input = path.join(folder, "in");
  const until = path.join(folder, "all-is-there");
  const GROWING: FeedSpec = { ...TRAIN, input: [input], window: 4, leaseMs: 1e9, relistMs: 1_000, until };
  const place = (name: string) => path.join(input, name);
  const put = (name: string, rows: string, seconds: number) => {
    writeFileSync(place(name), rows);
    utimesSync(place(name), seconds, seconds);
  };
  const inputs = (...names: string[]) =>
    Listing.of(names.map((name) => ({ path: `file://${place(name)}`, length: 4, modifiedMs: 5_000 })));

  beforeEach(() => {
    for (const path of [input, until]) rmSync(path, { recursive: true, force: true });
    mkdirSync(input);
  });

  async function grown(scene: Scene, seen = Listing.of([])): Promise<JobFeeds> {
    const feeds = new JobFeeds({ ...scene.options(GROWING), inputs: { train: seen } });
    expect(await ask(feeds, { type: "open" })).toEqual({ type: "opened", epoch: 0 });
    return feeds;
  }

  /** Looks read a real folder: that takes as long as it takes. */
  const looked = async (scene: Scene, isSeen: () => boolean) => {
    await eventually("the input is looked up", () => {
      void scene.clock.pass(1_000);
      return isSeen();
    });
  };
  const splitsOf = (feeds: JobFeeds) => feeds.status().feeds?.[0]?.splits ?? 0;

  test("hands new files out once they are the same twice, and ends when all are used and a file says that no more come", async () => {
    put("a", "one\n", 5);
    const feeds = await grown(scene, inputs("a"));
    await looked(scene, () => splitsOf(feeds) === 1);
    const { lease, path: url } = await given(feeds);
    expect(url).toBe(`file://${place("a")}`);
    await ask(feeds, { type: "used", records: 1, lease });
    expect(feeds.status().feeds).toMatchObject([{ splits: 1, used: 1, watermarkMs: 5_001 }]);
    const waits = given(feeds);
    put(".hidden", "no\n", 6);
    put("empty", "", 6);
    put("b", "two\n", 7);
    await looked(scene, () => splitsOf(feeds) === 2);
    const next = await waits;
    expect(next).toMatchObject({ split: 1, path: `file://${place("b")}` });
    expect(feeds.status().feeds).toMatchObject([{ splits: 2, used: 1, watermarkMs: 7_000 }]);
    rmSync(place("empty"));
    writeFileSync(until, "");
    await ask(feeds, { type: "used", records: 1, lease: next.lease });
    const end = ask(feeds, wants);
    await looked(scene, () => scene.inputs.at(-1)?.file.isComplete === true);
    expect(await end).toEqual({ type: "ended" });
  });

  test("is the same for a later attempt, whatever was written twice, and goes on growing", async () => {
    put("b", "two\n", 5);
    const feeds = await grown(scene, inputs("b"));
    await looked(scene, () => splitsOf(feeds) === 1);
    put("a", "one\n", 5);
    await looked(scene, () => splitsOf(feeds) === 2);
    const both = await ask(feeds, { ...wants, most: 2 });
    scene.inputs.push(...scene.inputs.slice(-1));
    const later = await grown(scene);
    expect(splitsOf(later)).toBe(2);
    expect(await ask(later, { ...wants, most: 2 })).toEqual(both);
    put("c", "three\n", 5);
    await looked(scene, () => splitsOf(later) === 3);
  });

  test("takes no file that changes, is open or cannot be read in its format, and says so", async () => {
    put("a", "one\n", 5);
    put("b.xz", "xz\n", 5);
    const feeds = await grown(scene, inputs("a"));
    await looked(scene, () => splitsOf(feeds) === 1);
    put("a", "other\n", 9);
    await looked(scene, () => scene.warnings.length === 2);
    expect(scene.warnings.sort()).toEqual([
      `feed-file-changed: file://${place("a")} of feed train has changed since it was found, and is not read again`,
      `feed-file-unusable: Feed train does not take file://${place("b.xz")}: the only compressed files that are read are .gz`,
    ]);
    expect(splitsOf(feeds)).toBe(1);
  });

  test("is heard of once it is in the journal", async () => {
    put("a", "one\n", 5);
    const feeds = await grown(scene, inputs("a"));
    scene.broken = new Error("the NameNode is away");
    await looked(scene, () => scene.warnings.length > 0);
    expect([splitsOf(feeds), scene.warnings]).toEqual([
      0,
      ["feed-not-looked-up: New files of feed train are not found: the NameNode is away"],
    ]);
    scene.broken = undefined;
    await looked(scene, () => splitsOf(feeds) === 1);
    expect(scene.inputs).toHaveLength(1);
  });
});
