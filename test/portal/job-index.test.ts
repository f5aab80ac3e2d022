import { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { JobIndex } from "../../portal/job-index.ts";
import { TonyError } from "../../src/errors.ts";
import { outOfMemory } from "../client/job-status.ts";
import { jobSpec, role } from "../simulation/job.ts";
import { HistoryFolder, type WrittenJob } from "./history-folder.ts";

const dayMs = 24 * 3_600_000;
const octoberMs = Date.UTC(2026, 9, 30, 12);

let history: HistoryFolder;
let index: JobIndex;
beforeEach(() => {
  history = new HistoryFolder();
  index = new JobIndex({ ...history, nowMs: () => 77 });
});
afterEach(() => history.remove());

const ids = () => index.rows.map(({ applicationId }) => applicationId);

test("lists jobs that run and that have ended, ours and TonY's, the newest first", async () => {
  history.write({ number: 1, startedAtMs: 10, endedAtMs: octoberMs, result: "failed", cause: outOfMemory() });
  history.write({ number: 2, startedAtMs: 30, name: "resnet", user: "bob" });
  history.reports.set("application_1_0002", { startTimeMs: 20 });
  history.writeTonys(3, octoberMs + dayMs);
  await index.refresh();
  expect(index.rows).toEqual([
    {
      applicationId: "application_1_0003",
      name: "old mnist",
      user: "tom",
      queue: "prod",
      state: "failed",
      startedAtMs: 1_000,
      endedAtMs: octoberMs + dayMs,
      tasks: 1,
      cause: "worker:0 failed",
      writtenBy: "TonY",
      usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 },
    },
    {
      applicationId: "application_1_0002",
      name: "resnet",
      user: "bob",
      queue: "ml",
      state: "running",
      submittedAtMs: 20,
      startedAtMs: 30,
      tasks: 2,
      writtenBy: "tony-ts",
      usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 },
    },
    {
      applicationId: "application_1_0001",
      name: "bert",
      user: "ada",
      queue: "ml",
      state: "failed",
      startedAtMs: 10,
      endedAtMs: octoberMs,
      tasks: 3,
      cause: "worker:1 ran out of memory on 127.0.0.12",
      writtenBy: "tony-ts",
      usage: { memoryMiBSeconds: 1024, vcoreSeconds: 10 },
    },
  ]);
  expect(index.scan).toEqual({ isComplete: true, folders: 3, read: 3, atMs: 77, unreadable: [] });
});

test("a job that ends is read again, and one whose history was removed is forgotten", async () => {
  history.write({ number: 1 });
  const second = history.write({ number: 2, endedAtMs: octoberMs });
  await index.refresh();
  await history.tick();
  history.write({ number: 1, endedAtMs: octoberMs });
  rmSync(second, { recursive: true });
  await index.refresh();
  expect(index.rows.map(({ applicationId, state }) => [applicationId, state])).toEqual([
    ["application_1_0001", "succeeded"],
  ]);
  expect(index.scan.read).toBe(3);
});

test("one whose history was moved among those that have ended is known still, however often it is looked, and not counted as removed", async () => {
  history.write({ number: 1 });
  await index.refresh();
  await history.tick();
  rmSync(history.write({ number: 1 }), { recursive: true });
  history.write({ number: 1, endedAtMs: octoberMs });
  for (let look = 0; look < 2; look += 1) {
    await index.refresh();
    expect(ids()).toEqual(["application_1_0001"]);
    expect(index.gone).toEqual([]);
  }
});

test("earlier runs of a job are those of its name, user and viewers that ended before it began, the newest first", async () => {
  const ended = (number: number, changes: Partial<WrittenJob> = {}) =>
    history.write({ number, startedAtMs: number * 10, endedAtMs: octoberMs + number, ...changes });
  for (const number of [2, 1, 3]) ended(number, number === 1 ? { endedAtMs: octoberMs + dayMs } : {});
  ended(4, { name: "resnet" });
  ended(5, { user: "bob" });
  ended(6, { viewAcl: "bob" });
  ended(7, { endedAtMs: octoberMs + dayMs + 1 });
  history.writeTonys(8, octoberMs);
  ended(9, { startedAtMs: octoberMs + dayMs, endedAtMs: octoberMs + 2 * dayMs });
  await index.refresh();
  const bytes = index.job("application_1_0003")?.bytes ?? 0;
  const runs = (most: number, mostBytes: number) =>
    index
      .earlierRuns("application_1_0009", { most, mostBytes })
      .map(({ applicationId }) => Number(applicationId.at(-1)));
  expect(bytes).toBeGreaterThan(0);
  expect(runs(9, 1e9)).toEqual([3, 2, 1]);
  expect(runs(2, 1e9)).toEqual([3, 2]);
  expect([runs(9, bytes), runs(9, bytes - 1)]).toEqual([[3], []]);
  expect(index.earlierRuns("application_1_0010", { most: 9, mostBytes: 1e9 })).toEqual([]);
});

test("what removed jobs came to is kept as soon as that can be", async () => {
  let isFull = true;
  const kept: number[] = [];
  const saveGone = async (tallies: readonly unknown[]) => {
    if (isFull) throw new Error("no space left");
    kept.push(tallies.length);
  };
  const nothing = async () => undefined;
  const segments = { gone: () => [], *load() {}, prepare: nothing, remove: nothing, save: nothing, saveGone };
  const keeping = new JobIndex({ ...history, nowMs: () => 77, segments });
  history.write({ number: 1, endedAtMs: octoberMs });
  await keeping.refresh();
  keeping.forget("application_1_0001");
  await keeping.keepGone();
  expect(keeping.scan.keepTrouble).toBe("no space left");
  isFull = false;
  for (let round = 0; round < 2; round += 1) await keeping.keepGone();
  expect(kept).toEqual([1]);
  expect(keeping.scan).not.toHaveProperty("keepTrouble");
});

test("jobs that began at the same time are listed by their ids, the newest first", async () => {
  for (const number of [2, 3, 1]) history.write({ number });
  await index.refresh();
  expect(ids().map((id) => id.at(-1))).toEqual(["3", "2", "1"]);
});

test("what lies beside the jobs' folders is none", async () => {
  history.write({ number: 1, endedAtMs: octoberMs });
  mkdirSync(history.intermediate, { recursive: true });
  writeFileSync(path.join(history.intermediate, "application_1_0002"), "");
  mkdirSync(path.join(history.intermediate, "notes"));
  mkdirSync(path.join(history.finished, "archive", "2026"), { recursive: true });
  await index.refresh();
  expect(ids()).toEqual(["application_1_0001"]);
  expect(index.scan).toMatchObject({ folders: 1, unreadable: [] });
});

test("of histories that cannot be read a hundred are told, the latest", async () => {
  for (let number = 1; number <= 101; number += 1) history.writeBroken(number);
  await index.refresh();
  expect(index.scan.unreadable).toHaveLength(100);
  const last = history.writeBroken(102);
  await index.refresh();
  expect(index.scan.unreadable).toHaveLength(100);
  expect(index.scan.unreadable).toContainEqual(expect.objectContaining({ folder: last }));
});

test("one that is moved while the history is looked through stays known", async () => {
  const there = history.write({ number: 1, endedAtMs: octoberMs });
  const here = path.join(history.intermediate, path.basename(there));
  mkdirSync(history.intermediate);
  renameSync(there, here);
  await history.tick();
  const { list } = history.fileSystem;
  history.fileSystem.list = async (folder) => {
    // It was seen among those that run.
    if (folder === path.dirname(path.dirname(there))) renameSync(here, there);
    return await list.call(history.fileSystem, folder);
  };
  await index.refresh();
  history.fileSystem.list = list;
  for (let look = 0; look < 2; look += 1) {
    await index.refresh();
    expect(ids()).toEqual(["application_1_0001"]);
    expect(index.job("application_1_0001")?.folder).toBe(there);
  }
  expect(index.gone).toEqual([]);
});

test("a day that was taken away and put back is read again", async () => {
  const day = path.dirname(history.write({ number: 1, endedAtMs: octoberMs }));
  await index.refresh();
  renameSync(day, path.join(history.root, "trash"));
  await index.refresh();
  expect(ids()).toEqual([]);
  renameSync(path.join(history.root, "trash"), day);
  await index.refresh();
  expect(ids()).toEqual(["application_1_0001"]);
});

test("whose names who may see a job are too long, nobody but its owner sees", async () => {
  history.write({ number: 1, viewAcl: "x".repeat(1_000) });
  history.write({ number: 2, viewAcl: "x".repeat(1_001) });
  await index.refresh();
  expect(index.rows.map(({ viewers }) => viewers?.length)).toEqual([undefined, 1_000]);
});

test("nothing is read twice", async () => {
  history.write({ number: 1, endedAtMs: octoberMs });
  history.write({ number: 2 });
  history.writeBroken(3);
  await index.refresh();
  const { rows } = index;
  for (let round = 0; round < 2; round += 1) await index.refresh();
  expect(index.scan).toMatchObject({ folders: 3, read: 3 });
  expect(index.rows).toBe(rows);
});

test("while jobs are read the list is sorted anew once a second at most", async () => {
  let nowMs = 0;
  const open = history.fileSystem.open.bind(history.fileSystem);
  const seen: number[] = [];
  index = new JobIndex({ ...history, nowMs: () => nowMs });
  history.fileSystem.open = async (file) => {
    seen.push(index.rows.length);
    nowMs += 100;
    return await open(file);
  };
  for (let number = 1; number <= 120; number += 1) history.write({ number, endedAtMs: octoberMs });
  await index.refresh();
  const [sorted, known] = [new Set(seen).size, index.rows.length];
  expect([sorted > 2, sorted <= 1 + (120 * 100) / 1_000, known]).toEqual([true, true, 120]);
});

test("a history that cannot be read hides no other, and is told", async () => {
  const broken = history.writeBroken(3);
  history.write({ number: 4 });
  await index.refresh();
  expect(ids()).toEqual(["application_1_0004"]);
  expect(index.scan).toMatchObject({
    isComplete: true,
    unreadable: [{ folder: broken, why: expect.stringContaining("line 1 of the history cannot be read") }],
  });
});

test("a history that can be read after all, there or where it was moved, is told no more as one that cannot", async () => {
  const mended = history.writeBroken(3);
  history.writeBroken(4);
  await index.refresh();
  expect(index.scan.unreadable).toHaveLength(2);
  await history.tick();
  history.write({ number: 3 });
  utimesSync(mended, 5, 5);
  history.write({ number: 4, endedAtMs: octoberMs });
  await index.refresh();
  expect(index.scan.unreadable).toEqual([]);
  expect(ids().sort()).toEqual(["application_1_0003", "application_1_0004"]);
});

describe("a job that runs", () => {
  const state = () => index.rows.map((row) => row.state);

  test("waits until its programs begin, and again while they are to begin again, though its folder does not change", async () => {
    const folder = history.write({ number: 1, last: "job-started" });
    const { mtime } = statSync(folder);
    const next = async (last: NonNullable<WrittenJob["last"]>) => {
      history.write({ number: 1, last });
      utimesSync(folder, mtime, mtime);
      await index.refresh();
      return state();
    };
    await index.refresh();
    expect(state()).toEqual(["waiting"]);
    expect(await next("generation-opened")).toEqual(["waiting"]);
    expect(await next("cluster-spec-sent")).toEqual(["running"]);
  });

  test("was submitted when YARN says, and has the tags that it was submitted with", async () => {
    history.write({ number: 1, spec: { tags: ["team:nlp", "nightly"] } });
    history.reports.set("application_1_0001", { state: "RUNNING", startTimeMs: 400 });
    await index.refresh();
    expect(index.rows).toMatchObject([{ submittedAtMs: 400, startedAtMs: 1_000, tags: ["team:nlp", "nightly"] }]);
    history.reports.set("application_1_0001", new Error("no ResourceManager answers"));
    await history.tick();
    writeFileSync(path.join(history.intermediate, "application_1_0001", "page.key"), "k");
    await index.refresh();
    expect(index.rows).toMatchObject([{ submittedAtMs: 400 }]);
  });
});

test("a job that has ended was submitted when it says itself", async () => {
  history.write({ number: 1, endedAtMs: octoberMs, more: { submittedAtMs: 7 } });
  await index.refresh();
  expect(index.rows).toMatchObject([{ submittedAtMs: 7, startedAtMs: 1_000 }]);
});

describe("a job whose history has no end", () => {
  const id = "application_1_0001";
  beforeEach(() => void history.write({ number: 1 }));
  const state = () => index.rows.map((row) => row.state);

  test("ended as YARN says", async () => {
    await index.refresh();
    expect(state()).toEqual(["running"]);
    history.reports.set(id, { state: "KILLED", finishTimeMs: 60, diagnostics: "killed by bob" });
    await index.refresh();
    expect(index.rows).toMatchObject([{ state: "killed", endedAtMs: 60, cause: "killed by bob" }]);
    expect(index.job(id)?.outcome).toMatchObject({ result: "killed", summary: "killed by bob" });
    history.reports.clear();
    await index.refresh();
    expect(state()).toEqual(["killed"]);
  });

  test("has no cause where it succeeded", async () => {
    history.reports.set(id, { state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: 60, diagnostics: "all done" });
    await index.refresh();
    expect(index.rows).toMatchObject([{ state: "succeeded", endedAtMs: 60 }]);
    expect(index.rows[0]).not.toHaveProperty("cause");
  });

  test("held what YARN counted, less its ApplicationMaster's container, by the prices of its time", async () => {
    const { am } = jobSpec([role("worker", 2)]);
    const resource = { memoryMiB: 1024, vcores: 1, others: {} };
    const priced = { am: { ...am, resource, vcoreHourPrice: 2, currency: "EUR" } };
    history.write({ number: 1, startedAtMs: 1_000, spec: priced });
    const none = { memoryMiB: 0, vcores: 0, others: {} };
    const seconds = { memorySeconds: 30_720, vcoreSeconds: 3_610, resourceSeconds: {} };
    const usage = { usedContainers: 0, used: none, needed: none, ...seconds };
    history.reports.set(id, { state: "KILLED", launchTimeMs: 1_000, finishTimeMs: 11_000, usage });
    await index.refresh();
    expect(index.rows).toMatchObject([
      { usage: { memoryMiBSeconds: 20_480, vcoreSeconds: 3_600, cost: { amount: 2, currency: "EUR" } } },
    ]);
  });

  test("is unknown when YARN has forgotten it", async () => {
    history.reports.set(id, new TonyError("none", { code: "APPLICATION_NOT_FOUND" }));
    await index.refresh();
    expect(state()).toEqual(["unknown"]);
  });

  test("runs, as far as is known, while YARN does not answer", async () => {
    history.reports.set(id, new Error("no ResourceManager answers"));
    await index.refresh();
    expect(state()).toEqual(["running"]);
    expect(index.scan).toMatchObject({ isComplete: true, yarnTrouble: "no ResourceManager answers" });
    history.reports.clear();
    await index.refresh();
    expect(index.scan).not.toHaveProperty("yarnTrouble");
  });
});

test("a NameNode that does not answer leaves what is known, with the reason", async () => {
  history.write({ number: 1 });
  await index.refresh();
  history.fileSystem.list = async () => Promise.reject(new Error("no NameNode answers"));
  await index.refresh();
  expect(ids()).toEqual(["application_1_0001"]);
  expect(index.scan).toMatchObject({ isComplete: true, trouble: "no NameNode answers", atMs: 77 });
});

test("an empty list says where no job was found", async () => {
  mkdirSync(history.finished);
  await index.refresh();
  expect(index.scan.emptyPlaces).toEqual([
    `file://${history.intermediate}, which does not exist`,
    `file://${history.finished}`,
  ]);
  history.write({ number: 1 });
  await index.refresh();
  expect(index.scan).not.toHaveProperty("emptyPlaces");
});

test("a job that was not there yet is found by its id", async () => {
  await index.refresh();
  const folder = history.write({ number: 5, endedAtMs: octoberMs });
  expect(await index.folderOf("application_1_0005")).toBe(folder);
  history.fileSystem.list = async () => Promise.reject(new Error("it is known already"));
  expect(await index.folderOf("application_1_0005")).toBe(folder);
  expect(await index.folderOf("application_1_0006")).toBeUndefined();
});

test("keeps little of what a job wrote into its history", async () => {
  history.write({
    number: 1,
    name: "x".repeat(5_000),
    cause: { ...outOfMemory(), summary: "y".repeat(5_000) },
    endedAtMs: octoberMs,
    spec: { tags: Array.from({ length: 21 }, () => "z".repeat(5_000)) },
  });
  history.write({ number: 2 });
  history.reports.set("application_1_0002", { state: "KILLED", finishTimeMs: 60, diagnostics: "k".repeat(5_000) });
  await index.refresh();
  const [killed, row] = index.rows;
  expect([row?.name.length, row?.cause?.length, killed?.cause?.length]).toEqual([1_000, 1_000, 1_000]);
  expect(row?.tags?.map((tag) => tag.length)).toEqual(Array.from({ length: 20 }, () => 1_000));
});
