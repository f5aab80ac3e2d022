import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { JobIndex, type KnownJob } from "../../portal/job-index.ts";
import { metricsOf } from "../../portal/metrics.ts";
import { overdue, toMove, Upkeep } from "../../portal/upkeep.ts";
import { TonyError } from "../../src/errors.ts";
import { FileSystemError } from "../../src/hadoop/hdfs/errors.ts";
import { JobHistoryFolder } from "../../src/history/job-folder.ts";
import type { UpkeepSettings } from "../../src/portal-settings.ts";
import { HistoryFolder } from "./history-folder.ts";

const dayMs = 24 * 3_600_000;
const nowMs = Date.UTC(2026, 10, 26, 12);
const before = (days: number) => nowMs - days * dayMs;
const id = (number: number) => `application_1_${String(number).padStart(4, "0")}`;

let history: HistoryFolder;
let index: JobIndex;
let said: string[];
let clockMs: number;
beforeEach(() => {
  history = new HistoryFolder();
  index = new JobIndex({ ...history, nowMs: () => clockMs });
  said = [];
  clockMs = nowMs;
});
afterEach(() => history.remove());

function upkeepOf(settings: Partial<UpkeepSettings> = {}): Upkeep {
  const { fileSystem, intermediate, root } = history;
  const usual = {
    moverIntervalMs: 1,
    purgerIntervalMs: 1,
    keepMs: 30 * dayMs,
    keepFailedMs: 90 * dayMs,
    isDryRun: false,
  };
  const folderOf = (applicationId: string) => {
    const folder = JobHistoryFolder.of(
      { locate: (place: string) => ({ fileSystem, path: place }) },
      { location: root, timeZone: "UTC" },
      applicationId,
    );
    if (folder === undefined) throw new Error("no history");
    return folder;
  };
  return new Upkeep({
    fileSystem,
    index,
    intermediate,
    folderOf,
    settings: { ...usual, ...settings },
    nowMs: () => clockMs,
    say: (line) => said.push(line),
  });
}

/** As the NameNode has it of a folder that nothing has happened in since. */
function aged(folder: string, atMs: number): string {
  for (const name of readdirSync(folder)) utimesSync(path.join(folder, name), atMs / 1000, atMs / 1000);
  utimesSync(folder, atMs / 1000, atMs / 1000);
  return folder;
}

function ended(number: number, days: number, result: "succeeded" | "failed" | "killed" = "succeeded"): string {
  return aged(history.write({ number, startedAtMs: before(days + 1), endedAtMs: before(days), result }), before(days));
}

/** Left where it ran. */
function unmoved(number: number, days: number): string {
  const folder = ended(number, days);
  const there = path.join(history.intermediate, id(number));
  mkdirSync(history.intermediate, { recursive: true });
  renameSync(folder, there);
  return there;
}

describe("the mover", () => {
  test("moves what has ended to the day of its end, a while after it", async () => {
    const late = unmoved(1, 3);
    const fresh = unmoved(2, 2 / 24 / 60);
    history.write({ number: 3 });
    await index.refresh();
    const upkeep = upkeepOf();
    await upkeep.round();
    expect([late, fresh].map((folder) => existsSync(folder))).toEqual([false, true]);
    expect(existsSync(path.join(history.finished, "2026/11/23", id(1)))).toBe(true);
    expect(said).toEqual([
      expect.stringMatching(/^moved \S+intermediate\/application_1_0001, succeeded, ended 2026-11-23, \d+ bytes$/),
    ]);
    expect(upkeep.counts).toMatchObject({ moved: 1, removed: 0, refused: 0 });
    await index.refresh();
    expect(index.rows).toHaveLength(3);
  });

  test("ends the history of a job that YARN ended", async () => {
    aged(history.write({ number: 1, startedAtMs: before(2) }), before(1));
    history.reports.set(id(1), { state: "KILLED", finishTimeMs: before(1), diagnostics: "killed by bob" });
    await index.refresh();
    await upkeepOf().round();
    expect(readdirSync(path.join(history.finished, "2026/11/25", id(1)))).toEqual([
      `${id(1)}-${before(2)}-${before(1)}-ada-KILLED.jsonl`,
    ]);
  });

  test("writes nowhere else what a job says of its user", async () => {
    const folder = aged(
      history.write({ number: 1, user: "a/../../../../elsewhere", startedAtMs: before(2) }),
      before(1),
    );
    history.reports.set(id(1), { state: "KILLED", finishTimeMs: before(1) });
    await index.refresh();
    const upkeep = upkeepOf();
    await upkeep.round();
    expect(existsSync(folder)).toBe(true);
    expect(said).toEqual([expect.stringContaining(`"a/../../../../elsewhere" is not a valid user name`)]);
    expect(upkeep.counts).toMatchObject({ moved: 0, refused: 1 });
  });

  test("says once what it may not move, goes on with the others, and tries it again at the purger's next round", async () => {
    for (const number of [1, 2, 3]) unmoved(number, number);
    await index.refresh();
    const { rename } = history.fileSystem;
    history.fileSystem.rename = async (from, to, options) => {
      if (from.endsWith(id(2))) return await rename.call(history.fileSystem, from, to, options);
      throw new FileSystemError("no", { code: "ACCESS_DENIED" });
    };
    const upkeep = upkeepOf({ purgerIntervalMs: dayMs });
    for (let round = 0; round < 3; round += 1) {
      await upkeep.round();
      await index.refresh();
      clockMs += 1_000;
    }
    expect(said).toEqual([
      expect.stringContaining(`moved ${history.intermediate}/${id(2)}`),
      `${history.intermediate}/${id(3)} is not moved: the portal's user may not write there, or it is there already; 1 other not moved either`,
    ]);
    history.fileSystem.rename = rename;
    clockMs += dayMs;
    await upkeep.round();
    expect(upkeep.counts).toMatchObject({ moved: 3, refused: 0 });
  });
});

describe("what could not be done", () => {
  test("is tried again as soon as the folder has changed", async () => {
    const folder = unmoved(1, 3);
    await index.refresh();
    const { rename } = history.fileSystem;
    history.fileSystem.rename = async () => {
      throw new FileSystemError("no", { code: "ACCESS_DENIED" });
    };
    const upkeep = upkeepOf({ purgerIntervalMs: dayMs });
    await upkeep.round();
    history.fileSystem.rename = rename;
    const movedLater = async () => {
      clockMs += 1_000;
      await index.refresh();
      await upkeep.round();
      return upkeep.counts.moved;
    };
    expect(await movedLater()).toBe(0);
    aged(folder, before(2));
    expect(await movedLater()).toBe(1);
  });
});

test("what a job that has ended says of its user keeps it from nothing: no name of a file is made of it", async () => {
  const there = history.write({ number: 1, user: "9ada", startedAtMs: before(4), endedAtMs: before(3) });
  const here = path.join(history.intermediate, id(1));
  mkdirSync(history.intermediate, { recursive: true });
  renameSync(aged(there, before(3)), here);
  await index.refresh();
  await upkeepOf().round();
  expect([existsSync(there), existsSync(here)]).toEqual([true, false]);
});

describe("the mover of many", () => {
  test("moves so many in a round, and goes on with the next one in the next round, not after the mover's interval", async () => {
    for (let number = 1; number <= 52; number += 1) unmoved(number, 3);
    await index.refresh();
    const upkeep = upkeepOf({ moverIntervalMs: dayMs });
    await upkeep.round();
    expect(upkeep.counts.moved).toBe(50);
    await index.refresh();
    await upkeep.round();
    expect(upkeep.counts.moved).toBe(52);
    unmoved(53, 3);
    await index.refresh();
    await upkeep.round();
    expect(upkeep.counts.moved).toBe(52);
  });
});

describe("the purger", () => {
  test("removes what is older than it is kept, and failed jobs later, with the days that are empty then", async () => {
    const folders = [ended(1, 31), ended(2, 29), ended(3, 89, "failed"), ended(4, 91, "killed")];
    history.write({ number: 5, startedAtMs: before(400) });
    await index.refresh();
    const upkeep = upkeepOf();
    await upkeep.round();
    expect(folders.map((folder) => existsSync(folder))).toEqual([false, true, true, false]);
    expect(existsSync(path.dirname(folders[0] ?? ""))).toBe(false);
    expect(said).toEqual([
      expect.stringMatching(/^removed \S+2026\/08\/27\/application_1_0004, killed, .* bytes: it is older than 90 d$/),
      expect.stringMatching(
        /^removed \S+2026\/10\/26\/application_1_0001, succeeded, .* bytes: it is older than 30 d$/,
      ),
    ]);
    expect(upkeep.counts).toMatchObject({ removed: 2, removedBytes: expect.any(Number) });
    await index.refresh();
    expect(index.rows.map(({ applicationId }) => applicationId)).toEqual([id(2), id(3), id(5)]);
  });

  test("leaves days that may get jobs yet, and counts the bytes that went", async () => {
    const [young, old] = [ended(1, 1), ended(2, 3)];
    await index.refresh();
    const bytes = index.known.reduce((sum, one) => sum + one.bytes, 0);
    const upkeep = upkeepOf({ keepMs: dayMs / 24 });
    await upkeep.round();
    expect([young, old].map((folder) => existsSync(path.dirname(folder)))).toEqual([true, false]);
    expect(upkeep.counts).toEqual({ moved: 0, removed: 2, removedBytes: bytes, refused: 0 });
  });

  test("looks again after its interval, not before", async () => {
    await index.refresh();
    const upkeep = upkeepOf({ purgerIntervalMs: dayMs });
    const removedAt = async (afterMs: number) => {
      clockMs = nowMs + afterMs;
      await index.refresh();
      await upkeep.round();
      return upkeep.counts.removed;
    };
    expect(await removedAt(0)).toBe(0);
    ended(1, 40);
    expect([await removedAt(dayMs - 1), await removedAt(dayMs)]).toEqual([0, 1]);
  });

  test("says how long that is of less than a day, too", async () => {
    ended(1, 1);
    await index.refresh();
    await upkeepOf({ keepMs: dayMs / 24 }).round();
    expect(said).toEqual([expect.stringMatching(/: it is older than 1 h$/)]);
  });

  test("removes no folder that holds anything else, nor what a link leads to", async () => {
    const [strange, linked, nested] = [ended(1, 40), ended(2, 41), ended(3, 42)];
    writeFileSync(path.join(strange, "thesis.txt"), "mine");
    aged(strange, before(40));
    mkdirSync(path.join(nested, "series.jsonl.gz"));
    aged(nested, before(42));
    const elsewhere = path.join(history.root, "elsewhere");
    renameSync(linked, elsewhere);
    symlinkSync(elsewhere, linked);
    await index.refresh();
    await upkeepOf().round();
    expect([strange, nested].map((folder) => existsSync(folder))).toEqual([true, true]);
    expect(readdirSync(elsewhere)).toHaveLength(1);
    expect(said).toContainEqual(
      expect.stringContaining(
        `${nested} is not removed: it holds "series.jsonl.gz", which is not a file of its history; 1 other not removed either`,
      ),
    );
  });

  test("removes no folder whose history has gone meanwhile: others may have put something else there", async () => {
    const folder = ended(1, 40);
    await index.refresh();
    for (const name of readdirSync(folder)) rmSync(path.join(folder, name));
    await upkeepOf().round();
    expect(existsSync(folder)).toBe(true);
    expect(said).toEqual([expect.stringContaining(`${folder} is not removed: it holds no history`)]);
  });

  test("removes nothing before the history was read to its end, or while a NameNode does not answer", async () => {
    const old = ended(1, 50);
    const upkeep = upkeepOf();
    await upkeep.round();
    await index.refresh();
    history.fileSystem.list = async () => Promise.reject(new Error("no NameNode answers"));
    await index.refresh();
    await upkeep.round();
    expect(existsSync(old)).toBe(true);
    expect(said).toEqual([]);
  });

  test("removes what YARN has forgotten, unless something still writes to it", async () => {
    const [dead, alive] = [1, 2].map((number) =>
      aged(history.write({ number, startedAtMs: before(200) }), before(100)),
    );
    utimesSync(path.join(alive ?? "", "events.jsonl.inprogress"), nowMs / 1000, nowMs / 1000);
    for (const number of [1, 2])
      history.reports.set(id(number), new TonyError("none", { code: "APPLICATION_NOT_FOUND" }));
    await index.refresh();
    await upkeepOf().round();
    expect([dead, alive].map((folder) => existsSync(folder ?? ""))).toEqual([false, true]);
  });

  test("leaves the place of those that run, also when it has removed the last one there", async () => {
    const dead = aged(history.write({ number: 1, startedAtMs: before(200) }), before(100));
    history.reports.set(id(1), new TonyError("none", { code: "APPLICATION_NOT_FOUND" }));
    await index.refresh();
    await upkeepOf().round();
    expect([existsSync(dead), existsSync(history.intermediate)]).toEqual([false, true]);
  });

  test("takes a job for as old as it says, though its files were copied there lately", async () => {
    const copied = history.write({ number: 1, startedAtMs: before(41), endedAtMs: before(40) });
    await index.refresh();
    await upkeepOf().round();
    expect(existsSync(copied)).toBe(false);
  });

  test("asks for nothing above a day in which something else lies", async () => {
    const day = path.dirname(ended(1, 40));
    writeFileSync(path.join(day, "notes"), "");
    await index.refresh();
    const asked: string[] = [];
    const remove = history.fileSystem.delete.bind(history.fileSystem);
    history.fileSystem.delete = async (folder, options) => {
      asked.push(folder);
      return await remove(folder, options);
    };
    await upkeepOf().round();
    expect(asked).toEqual([path.join(day, id(1)), day]);
  });

  test("removes a hundred in a round, and goes on in the next", async () => {
    for (let number = 1; number <= 130; number += 1) ended(number, 40);
    await index.refresh();
    const upkeep = upkeepOf({ purgerIntervalMs: dayMs });
    await upkeep.round();
    expect(upkeep.counts.removed).toBe(100);
    await upkeep.round();
    expect(upkeep.counts.removed).toBe(130);
  });

  test("leaves the counters of Prometheus where they were", async () => {
    ended(1, 40);
    ended(2, 3);
    await index.refresh();
    const finished = () => /^tony_jobs_finished_total.*$/m.exec(metricsOf(index))?.[0];
    const all = finished();
    const upkeep = upkeepOf();
    await upkeep.round();
    await index.refresh();
    expect(index.rows).toHaveLength(1);
    expect(finished()).toBe(all);
    expect(metricsOf(index, upkeep.counts)).toContain("tony_portal_removed_jobs_total 1\n");
  });
});

test("a job that waits for its containers is left alone, however long it does", async () => {
  const folder = aged(history.write({ number: 1, startedAtMs: before(200), last: "job-started" }), before(200));
  await index.refresh();
  expect(index.rows.map(({ state }) => state)).toEqual(["waiting"]);
  await upkeepOf({ maxJobs: 0 }).round();
  expect([existsSync(folder), said]).toEqual([true, []]);
});

test("a rehearsal says what would be done, and does nothing", async () => {
  const folders = [ended(1, 40), unmoved(2, 3), ended(3, 41)];
  writeFileSync(path.join(folders[2] ?? "", "thesis.txt"), "mine");
  aged(folders[2] ?? "", before(41));
  await index.refresh();
  await upkeepOf().rehearse();
  expect(said).toEqual([
    expect.stringContaining(`would move ${folders[1]}`),
    `would leave ${folders[2]}: it holds "thesis.txt", which is not a file of its history`,
    expect.stringContaining(`would remove ${folders[0]}`),
    "1 to move, 1 to remove, of 3; nothing was done",
  ]);
  expect(folders.every((folder) => existsSync(folder))).toBe(true);
});

describe("of too many or too much", () => {
  const job = (number: number, state: KnownJob["row"]["state"], mebibytes = 1): KnownJob => ({
    applicationId: id(number),
    folder: `/finished/2026/11/01/${id(number)}`,
    changedAtMs: before(20 - number),
    bytes: mebibytes * 1024 ** 2,
    row: {
      applicationId: id(number),
      name: "",
      user: "ada",
      queue: "",
      state,
      startedAtMs: 0,
      ...(state === "running" ? {} : { endedAtMs: before(20 - number) }),
      tasks: 1,
      writtenBy: "tony-ts",
      usage: { memoryMiBSeconds: 0, vcoreSeconds: 0 },
    },
  });
  const jobs = [job(1, "failed"), job(2, "succeeded"), job(3, "succeeded"), job(4, "running"), job(5, "unknown")];
  const keep = { keepMs: 100 * dayMs, keepFailedMs: 100 * dayMs };
  const gone = (limits: { readonly maxJobs?: number; readonly maxMiB?: number }) =>
    overdue(jobs, { ...keep, ...limits }, nowMs).map((one) => one.job.applicationId);

  test("the oldest that succeeded go first, then the oldest others; what runs or may run stays", () => {
    expect(gone({})).toEqual([]);
    expect(gone({ maxJobs: 5, maxMiB: 5 })).toEqual([]);
    expect(gone({ maxJobs: 4 })).toEqual([id(2)]);
    expect(gone({ maxMiB: 4 })).toEqual([id(2)]);
    expect(gone({ maxMiB: 2 })).toEqual([id(2), id(3), id(1)]);
    expect(gone({ maxJobs: 0 })).toEqual([id(2), id(3), id(1)]);
  });

  test("each goes for what is still too much when its turn comes", () => {
    const why = overdue(jobs, { ...keep, maxJobs: 4, maxMiB: 3 }, nowMs).map((one) => one.why);
    expect(why).toEqual(["there are more than 4 jobs", "all have more than 3 MiB"]);
  });

  test("a job goes when it is older than it is kept, not at that age; a failed one is never kept for less", () => {
    const old = [job(1, "succeeded"), job(2, "failed")];
    const goneAt = (keepMs: number, keepFailedMs: number) =>
      overdue(old, { keepMs, keepFailedMs }, nowMs).map((one) => one.job.applicationId);
    expect(goneAt(19 * dayMs, 18 * dayMs)).toEqual([]);
    expect(goneAt(19 * dayMs - 1, 0)).toEqual([id(1)]);
    expect(goneAt(18 * dayMs - 1, 0)).toEqual([id(1), id(2)]);
    expect(goneAt(0, 18 * dayMs - 1)).toEqual([id(1), id(2)]);
  });

  test("what has ended is moved after five quiet minutes, from among those that run alone, the oldest first", () => {
    const there = (number: number, endedMs: number, changedMs = endedMs): KnownJob => {
      const one = job(number, "succeeded");
      const row = { ...one.row, endedAtMs: nowMs - endedMs };
      return { ...one, folder: `/intermediate/${id(number)}`, changedAtMs: nowMs - changedMs, row };
    };
    const [running] = [job(4, "running")].map((one) => ({ ...one, folder: `/intermediate/${id(4)}` }));
    if (running === undefined) throw new Error("one that runs");
    const five = 5 * 60_000;
    const known = [there(1, five), there(2, 9 * five), there(3, five - 1), there(5, 2 * five, five - 1), running];
    expect(
      toMove([...known, job(6, "succeeded")], "/intermediate", nowMs).map(({ applicationId }) => applicationId),
    ).toEqual([id(2), id(1)]);
  });

  test("a job that says that it ends in a thousand years is as old as its folder", () => {
    const eternal = { ...job(1, "succeeded"), changedAtMs: before(101) };
    const row = { ...eternal.row, endedAtMs: nowMs + 1000 * 365 * dayMs };
    expect(overdue([{ ...eternal, row }], keep, nowMs)).toHaveLength(1);
  });
});
