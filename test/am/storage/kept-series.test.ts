import { readdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { JobSeries } from "../../../am/executors/job-series.ts";
import { KeptSeries } from "../../../am/storage/kept-series.ts";
import { Staging } from "../../../am/storage/staging.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { aJobSpec } from "../../support/job-spec.ts";
import { silentLog } from "../../support/silent-log.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const FROM_MS = 1_000_000;
const folder = temporaryFolder();

/** An attempt of the ApplicationMaster, whose clock the test sets. */
function attemptOf(attempt: number, fromMs: number) {
  let atMs = fromMs;
  const warnings: string[] = [];
  const series = new JobSeries(aJobSpec(), fromMs);
  const staging = new Staging(new LocalFileSystem(), folder.path);
  let copies = 0;
  const kept = new KeptSeries({
    applicationId: "application_1_0001",
    attempt,
    series,
    staging: {
      keptSeries: (before) => staging.keptSeries(before),
      keepSeries: async (...wanted) => {
        copies += 1;
        await staging.keepSeries(...wanted);
      },
    },
    clock: { nowMs: () => atMs },
    log: { ...silentLog, warn: (_code, message) => warnings.push(message) },
  });
  return {
    series,
    kept,
    warnings,
    copies: () => copies,
    /** As its loop does: looks each second, and here waits for a copy that is made. */
    goTo: async (untilMs: number) => {
      for (; atMs <= untilMs; atMs += 1_000) {
        kept.look();
        await kept.copied();
      }
    },
    jumpTo: (toMs: number) => {
      atMs = toMs;
      kept.look();
    },
  };
}

const used = (cpuCores: number) => {
  return { memoryBytes: 1, maxMemoryBytes: 1, averageMemoryBytes: 1, cpuCores, cpuMs: 0, processes: 1 };
};

test("a later attempt goes on from what the one before has kept, on the same axis", async () => {
  const first = attemptOf(1, FROM_MS);
  first.series.used("worker:0", used(3), FROM_MS + 12_000);
  first.series.used("worker:1", used(1), FROM_MS + 12_000);
  await first.goTo(FROM_MS + 60_000);

  const second = attemptOf(2, FROM_MS + 70_000);
  second.series.used("worker:0", used(5), FROM_MS + 71_000);
  await second.kept.recover();
  second.series.used("worker:0", used(7), FROM_MS + 80_000);

  const between = Array.from({ length: 11 }, () => null);
  expect(second.series.seriesOf("worker:0")).toMatchObject({
    fromMs: FROM_MS,
    spanMs: 5_000,
    series: [{ name: "cpu", first: 2, values: [3, ...between, 5, null, 7] }, { name: "memory" }],
  });
  expect(second.series.seriesOf("worker:1").series).toMatchObject([{ values: [1] }, { values: [1] }]);
});

test("an attempt that dies before it has kept anything leaves what the one before it kept", async () => {
  const first = attemptOf(1, FROM_MS);
  first.series.reached("worker:0", { step: 4 }, FROM_MS + 1_000);
  await first.goTo(FROM_MS + 60_000);

  const third = attemptOf(3, FROM_MS + 90_000);
  await third.kept.recover();
  expect(third.series.seriesOf("worker:0").series).toEqual([{ name: "step", rule: "last", first: 0, values: [4] }]);
  expect(third.warnings).toEqual([]);
});

test("a copy is made once a minute at most, for its owner alone", async () => {
  const { goTo, copies } = attemptOf(1, FROM_MS);
  await goTo(FROM_MS + 59_000);
  expect(copies()).toBe(0);
  await goTo(FROM_MS + 181_000);
  expect(copies()).toBe(3);
  expect(await readdir(folder.path)).toEqual(["series-1.jsonl.gz"]);
  expect((await stat(path.join(folder.path, "series-1.jsonl.gz"))).mode & 0o777).toBe(0o600);
});

test("of a job so old that each value stands for minutes, a copy is made once for each value", async () => {
  const { series, goTo, copies } = attemptOf(1, FROM_MS);
  series.used("worker:0", used(1), FROM_MS + 24 * 3_600_000);
  expect(series.spanMs).toBe(320_000);
  await goTo(FROM_MS + 379_000);
  expect(copies()).toBe(1);
  await goTo(FROM_MS + 381_000);
  expect(copies()).toBe(2);
});

test("an attempt that stood still waits another minute: it may have been replaced", async () => {
  const { goTo, jumpTo, copies } = attemptOf(1, FROM_MS);
  jumpTo(FROM_MS + 300_000);
  await goTo(FROM_MS + 359_000);
  expect(copies()).toBe(0);
  await goTo(FROM_MS + 361_000);
  expect(copies()).toBe(1);
});

test("the job's end waits for a copy under way, and none follows it", async () => {
  const { kept, goTo, jumpTo, copies } = attemptOf(1, FROM_MS);
  await goTo(FROM_MS + 59_000);
  jumpTo(FROM_MS + 60_000);
  await kept.settled();
  expect(await readdir(folder.path)).toEqual(["series-1.jsonl.gz"]);
  await goTo(FROM_MS + 200_000);
  expect(copies()).toBe(1);
});

test("what cannot be read is said, and the attempt keeps its own", async () => {
  await writeFile(path.join(folder.path, "series-1.jsonl.gz"), "not gzip");
  const { series, kept, warnings } = attemptOf(2, FROM_MS);
  await kept.recover();
  series.used("worker:0", used(1), FROM_MS);
  expect(warnings).toEqual([expect.stringContaining("cannot be read")]);
  expect(series.seriesOf("worker:0").fromMs).toBe(FROM_MS);
});
