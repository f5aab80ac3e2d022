import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { DaySegments } from "../../portal/day-segments.ts";
import { JobIndex } from "../../portal/job-index.ts";
import { HistoryFolder } from "./history-folder.ts";

const octoberMs = Date.UTC(2026, 9, 30, 12);
const dayMs = 24 * 3_600_000;

let history: HistoryFolder;
let state: string;
let listed: string[];
beforeEach(() => {
  history = new HistoryFolder();
  state = mkdtempSync(path.join(tmpdir(), "tony-portal-state-"));
  listed = [];
  const { list } = history.fileSystem;
  history.fileSystem.list = (folder) => {
    listed.push(path.relative(history.root, folder));
    return list.call(history.fileSystem, folder);
  };
});
afterEach(() => {
  history.remove();
  rmSync(state, { recursive: true });
});

/** A portal that is started. */
async function started(name = history.finished): Promise<JobIndex> {
  const index = new JobIndex({ ...history, nowMs: () => 77, segments: new DaySegments(state, name) });
  await index.restore();
  return index;
}
const ids = (index: JobIndex) => index.rows.map(({ applicationId }) => applicationId.slice(-1)).sort();
const files = () => readdirSync(state, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".gz"));

async function readOnce(): Promise<void> {
  history.write({
    number: 1,
    endedAtMs: octoberMs,
    viewAcl: "carol",
    usage: { memoryMiBSeconds: 5, vcoreSeconds: 6, gpuSeconds: 7 },
  });
  history.write({ number: 2, endedAtMs: octoberMs + dayMs, result: "failed" });
  history.write({ number: 3 });
  await (await started()).refresh();
  await history.tick();
  listed = [];
}

test("what removed jobs came to is counted by the next portal, too, of the same history", async () => {
  await readOnce();
  const index = await started();
  await index.refresh();
  await index.keepGone();
  expect(readdirSync(state, { recursive: true })).not.toContainEqual(expect.stringMatching(/gone/));
  for (const id of ["application_1_0001", "application_1_0002"]) index.forget(id);
  await index.keepGone();
  const next = await started();
  expect(next.gone).toEqual(index.gone);
  expect(next.gone).toMatchObject([
    { state: "succeeded", viewers: "carol", jobs: 1, memoryMiBSeconds: 5, vcoreSeconds: 6, gpuSeconds: 7 },
    { state: "failed", jobs: 1 },
  ]);
  next.forget("application_1_0009");
  expect((await started("another")).gone).toEqual([]);
  const [file = ""] = readdirSync(state, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("gone.json"),
  );
  writeFileSync(path.join(state, file), "{");
  expect((await started()).gone).toEqual([]);
});

test("a start shows what an earlier portal had read at once, and reads no job of a day that has not changed", async () => {
  await readOnce();
  const before = new JobIndex({ ...history, nowMs: () => 77 });
  await before.refresh();
  listed = [];
  const index = await started();
  expect(ids(index)).toEqual(["1", "2"]);
  expect(index.scan).toMatchObject({ isComplete: false, restored: 2 });
  await index.refresh();
  expect(index.rows).toEqual(before.rows);
  expect(index.scan).toMatchObject({ isComplete: true, read: 1 });
  expect(listed.filter((folder) => folder.includes("application"))).toEqual(["intermediate/application_1_0003"]);
});

test("a start answers while it goes through what was read: the newest days are there first, and nothing is read anew before all are", async () => {
  await readOnce();
  const index = new JobIndex({ ...history, nowMs: () => 77, segments: new DaySegments(state, history.finished) });
  const restored = index.restore();
  expect(ids(index)).toEqual(["2"]);
  expect(index.scan).toMatchObject({ isComplete: false, restored: 1 });
  await index.refresh();
  await restored;
  expect(ids(index)).toEqual(["1", "2", "3"]);
  expect(index.scan).toMatchObject({ isComplete: true, restored: 2, read: 1 });
});

test("while many days are restored none of them is read anew", async () => {
  for (let number = 0; number < 30; number += 1) history.write({ number, endedAtMs: octoberMs - number * dayMs });
  await (await started()).refresh();
  const index = new JobIndex({ ...history, nowMs: () => 77, segments: new DaySegments(state, history.finished) });
  await Promise.all([index.restore(), index.refresh()]);
  expect(index.scan).toMatchObject({ restored: 30, read: 0 });
});

test("a portal that runs looks again at no day that has not changed, and at the latest two months alone", async () => {
  const daysAgo = [0, 31, 62];
  for (const [number, days] of daysAgo.entries()) history.write({ number, endedAtMs: octoberMs - days * dayMs });
  const index = new JobIndex({ ...history, nowMs: () => 77 });
  await index.refresh();
  await history.tick();
  listed = [];
  await index.refresh();
  expect(listed.sort()).toEqual(["finished", "finished/2026", "finished/2026/09", "finished/2026/10", "intermediate"]);
  for (const [number, days] of daysAgo.entries())
    history.write({ number: number + 3, endedAtMs: octoberMs - days * dayMs });
  await index.refresh();
  expect(ids(index)).toEqual(["0", "1", "2", "3", "4"]);
});

test("the newest days are read first, and of each the newest jobs", async () => {
  for (const days of [1, 0, 2]) history.write({ number: days, endedAtMs: octoberMs - days * dayMs });
  await new JobIndex({ ...history, nowMs: () => 77 }).refresh();
  expect(listed.filter((folder) => /^finished\/2026\/10\/\d+$/.test(folder))).toEqual(
    [30, 29, 28].map((day) => `finished/2026/10/${day}`),
  );
  for (const number of [4, 5, 6]) history.write({ number });
  await new JobIndex({ ...history, nowMs: () => 77 }).refresh();
  expect(listed.filter((folder) => folder.startsWith("intermediate/"))).toEqual(
    [6, 5, 4].map((number) => `intermediate/application_1_000${number}`),
  );
});

test("nothing is looked at before all is there that was read before, and nothing is shown of elsewhere", async () => {
  history.write({ number: 1, endedAtMs: octoberMs });
  const read = new JobIndex({ ...history, nowMs: () => 77 });
  await read.refresh();
  const day = path.join(history.finished, "2026/10/30");
  const nothing = async () => undefined;
  let isPrepared = () => {};
  const prepared = new Promise<void>((resolve) => {
    isPrepared = resolve;
  });
  const segments = {
    gone: () => [],
    *load() {
      yield { day: path.join(history.root, "2026/10/30"), changedAtMs: 1, jobs: read.known };
      const moved = read.known.map((job) => ({ ...job, applicationId: "application_1_0002", folder: "/elsewhere/2" }));
      yield { day, changedAtMs: 1, jobs: moved };
    },
    prepare: () => prepared,
    remove: nothing,
    save: nothing,
    saveGone: nothing,
  };
  const index = new JobIndex({ ...history, nowMs: () => 77, segments });
  listed = [];
  const restored = index.restore();
  const looked = index.refresh();
  await history.tick();
  expect([ids(index), listed]).toEqual([[], []]);
  isPrepared();
  await Promise.all([restored, looked]);
  expect(ids(index)).toEqual(["1"]);
});

test("of a day that has changed only the jobs are read that are new", async () => {
  await readOnce();
  history.write({ number: 4, endedAtMs: octoberMs + 5 });
  const index = await started();
  await index.refresh();
  expect(ids(index)).toEqual(["1", "2", "3", "4"]);
  expect(index.scan.read).toBe(2);
  expect(ids(await started())).toEqual(["1", "2", "4"]);
});

test("what was removed meanwhile is shown no more: a job, and a whole day", async () => {
  await readOnce();
  history.write({ number: 4, endedAtMs: octoberMs + 5 });
  await (await started()).refresh();
  await history.tick();
  rmSync(path.join(history.finished, "2026/10/31"), { recursive: true });
  rmSync(path.join(history.finished, "2026/10/30/application_1_0001"), { recursive: true });
  const index = await started();
  await index.refresh();
  expect(ids(index)).toEqual(["3", "4"]);
  expect(index.gone).toHaveLength(2);
  expect(files()).toHaveLength(1);
  rmSync(path.join(history.finished, "2026/10"), { recursive: true });
  const next = await started();
  await next.refresh();
  expect(ids(next)).toEqual(["3"]);
  expect(files()).toEqual([]);
});

test("a portal that runs notices that a day was removed, or a whole month, and its counters stay", async () => {
  await readOnce();
  const index = await started();
  await index.refresh();
  rmSync(path.join(history.finished, "2026/10/31"), { recursive: true });
  await index.refresh();
  expect(ids(index)).toEqual(["1", "3"]);
  expect(index.gone).toMatchObject([{ state: "failed", jobs: 1 }]);
  rmSync(path.join(history.finished, "2026/10"), { recursive: true });
  await index.refresh();
  expect([ids(index), files()]).toEqual([["3"], []]);
  expect(index.gone).toHaveLength(2);
});

test("a start and each look cost the NameNode less than fifty calls, however many days there are", async () => {
  for (let number = 0; number < 40; number += 1) history.write({ number, endedAtMs: octoberMs - number * 9 * dayMs });
  await (await started()).refresh();
  listed = [];
  const index = await started();
  await index.refresh();
  const atStart = listed.length;
  await index.refresh();
  expect(index.rows).toHaveLength(40);
  expect([atStart < 50, listed.length - atStart < 10]).toEqual([true, true]);
});

test("files that cannot be read, or are of another history or version, are made anew", async () => {
  await readOnce();
  const [first = "", second = ""] = files();
  writeFileSync(path.join(state, first), "half");
  expect(ids(await started())).toEqual(["2"]);
  expect(ids(await started("hdfs://other/finished"))).toEqual([]);
  const index = await started();
  await index.refresh();
  expect(ids(await started())).toEqual(["1", "2"]);
  expect(statSync(path.join(state, second)).mode & 0o777).toBe(0o600);
  const text = gunzipSync(readFileSync(path.join(state, first))).toString();
  writeFileSync(path.join(state, first), gzipSync(text.replace('"segmentVersion":2', '"segmentVersion":1')));
  expect(ids(await started())).toEqual(["2"]);
});

test("a day with a job that cannot be read is not kept: each start says so", async () => {
  await readOnce();
  const broken = path.join(history.finished, "2026/10/31/application_1_0009");
  mkdirSync(broken);
  await (await started()).refresh();
  const index = await started();
  await index.refresh();
  expect(index.scan.unreadable).toMatchObject([{ folder: broken }]);
});

test("where nothing can be kept, the list is shown, and why", async () => {
  writeFileSync(path.join(state, "file"), "");
  state = path.join(state, "file");
  history.write({ number: 1, endedAtMs: octoberMs });
  const index = await started().catch(
    () => new JobIndex({ ...history, nowMs: () => 77, segments: new DaySegments(state, "h") }),
  );
  await index.refresh();
  expect(ids(index)).toEqual(["1"]);
  expect(index.scan.keepTrouble).toContain("ENOTDIR");
  state = path.dirname(state);
});

test.each([
  ["there is a file in its place", () => path.join(history.root, "file", "state"), "ENOTDIR"],
  ["nobody can make one there", () => "/proc/tony/state", "ENOENT"],
])("a folder in which nothing can be kept is told of at once, before anything is to be: %s", async (_what, at, why) => {
  writeFileSync(path.join(history.root, "file"), "");
  const index = new JobIndex({ ...history, nowMs: () => 77, segments: new DaySegments(at(), "h") });
  await index.restore();
  expect(index.scan.keepTrouble).toContain(why);
});
