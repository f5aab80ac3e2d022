import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Applications } from "../../../client/applications/applications.ts";
import { seriesLines, seriesOf } from "../../../client/results/job-series.ts";
import { runOf } from "../../../client/results/runs.ts";
import { encodeSeries, seriesFile } from "../../../src/history/series/file.ts";
import { SeriesTable } from "../../../src/history/series/table.ts";
import { aReport } from "../application-report.ts";
import { aJobStatus, allSucceeded, noonishMs } from "../job-status.ts";
import { aPlace } from "../place.ts";
import { recordedContext } from "../support.ts";

let home = "";
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "tony-series-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const application = "application_1795305600000_0009";
const gibibyte = 1024 ** 3;

async function stored(folder: string, table: SeriesTable): Promise<void> {
  mkdirSync(path.join(home, folder), { recursive: true });
  const bytes = await encodeSeries({ applicationId: application, attempt: 1 }, table, () => 8 * gibibyte);
  writeFileSync(path.join(home, folder, seriesFile), bytes);
}

function twoWorkers(): SeriesTable {
  const table = new SeriesTable(0, 2);
  for (const [span, task] of [
    [0, "worker:0"],
    [1, "worker:0"],
    [0, "worker:1"],
  ] as const) {
    const add = (name: string, rule: "mean" | "most" | "last", value: number) =>
      table.add(task, { name, rule }, span * 5_000, value);
    add("memory", "most", (1 + span) * gibibyte);
    add("gpu", "mean", 97);
    add("gpu:1", "mean", 94);
    add("disk-written", "mean", span * 2 ** 20);
    add("step", "last", 100 * span);
    add("metric:loss", "mean", 1.92 - span);
    add("cpu", "mean", 1 + span);
  }
  return table;
}

async function shown(id: string, task?: string, changes: Partial<Applications> = {}): Promise<string[]> {
  const context = recordedContext({ workingDirectory: home, environment: { HADOOP_HOME: "/nowhere" } });
  const place = aPlace({ report: async () => ended(id), ...changes });
  const conf = [`tony.history.location=file://${path.join(home, "history")}`];
  return seriesLines(await seriesOf(id, task, conf, place, context));
}

const ended = (id: string) => aReport({ id, state: "FINISHED", finishTimeMs: noonishMs });

describe("tony-ts series", () => {
  test("of a task are not those of others whose names begin as its own does", async () => {
    const table = new SeriesTable(0, 2);
    for (const task of ["worker:1", "worker:10", "worker2:0"]) table.add(task, { name: "cpu", rule: "mean" }, 0, 1);
    await stored(`history/intermediate/${application}`, table);
    const tasksOf = async (wanted: string) => (await shown(application, wanted)).map((line) => line.split(" ")[0]);
    expect(await tasksOf("worker:1")).toEqual(["worker:1"]);
    expect(await tasksOf("worker")).toEqual(["worker:1", "worker:10"]);
  });

  test("shows a line for each quantity of each task, of one task or of all", async () => {
    await stored(`history/intermediate/${application}`, twoWorkers());
    expect(await shown(application)).toEqual([
      "worker:0   cpu            ▅█   1.5 cores on average, 2 at most",
      "           memory         ▂▃   2 GiB of 8 GiB at most",
      "           gpu            ██   97 % on average, 97 % at most",
      "           gpu:1          ██   94 % on average, 94 % at most",
      "           disk-written   ▁█   512 KiB/s on average, 1 MiB/s at most",
      "           step/s         █    20 on average, to step 100",
      "           loss           █▁   1.92 → 0.92",
      "worker:1   cpu            █    1 cores on average, 1 at most",
      "           memory         ▂    1 GiB of 8 GiB at most",
      "           gpu            █    97 % on average, 97 % at most",
      "           gpu:1          █    94 % on average, 94 % at most",
      "           disk-written   ▁    0 B/s on average, 0 B/s at most",
      "           step/s              to step 0",
      "           loss           ▁    1.92 → 1.92",
    ]);
    expect(await shown(application, "worker:1")).toHaveLength(7);
    expect(await shown(application, "worker")).toHaveLength(14);
  });

  test("finds those of a job that ended that day among that day's", async () => {
    const day = new Date(noonishMs).toISOString().slice(0, 10).replaceAll("-", "/");
    await stored(`history/finished/${day}/${application}`, twoWorkers());
    expect(await shown(application, "worker:1")).toHaveLength(7);
  });

  test("judges by what was measured: a gap counts for nothing, and of numbers three digits say enough", async () => {
    const table = new SeriesTable(0, 3);
    for (const span of [0, 2]) {
      table.add("worker:0", { name: "cpu", rule: "mean" }, span * 5_000, 1.5);
      table.add("worker:0", { name: "gpu-memory", rule: "mean" }, span * 5_000, 50);
      table.add("worker:0", { name: "step", rule: "last" }, span * 5_000, 100 * span);
      table.add("worker:0", { name: "metric:loss", rule: "mean" }, span * 5_000, 12.345 - span);
    }
    await stored(`history/intermediate/${application}`, table);
    expect(await shown(application)).toEqual([
      "worker:0   cpu          █ █   1.5 cores on average, 1.5 at most",
      "           gpu-memory   ▅ ▅   50 % on average, 50 % at most",
      "           step/s        █    20 on average, to step 200",
      "           loss         █ ▁   12.3 → 10.3",
    ]);
  });

  test("finds those of a job of this machine in its own folder, or where the job had its history", async () => {
    const id = "local_1795305600000_0001";
    await stored("own", twoWorkers());
    const folder = path.join(home, "own");
    expect(await shown(id, "worker:1", { keptHistory: () => ({ folder }) })).toHaveLength(7);
    const without = shown(id, "worker:1", { keptHistory: () => ({ folder: path.join(home, "none") }) });
    await expect(without).rejects.toMatchObject({ code: "NOTHING_LEFT" });
    await stored(`elsewhere/intermediate/${id}`, twoWorkers());
    const settings = { location: path.join(home, "elsewhere"), timeZone: "UTC" };
    expect(await shown(id, "worker:1", { keptHistory: () => ({ settings }) })).toHaveLength(7);
  });

  test("says what is missing: an end, the file, a task, a sample", async () => {
    await expect(
      shown(application, undefined, { report: async () => aReport({ id: application, state: "RUNNING" }) }),
    ).rejects.toThrow(`${application} has not ended`);
    mkdirSync(path.join(home, `history/intermediate/${application}`), { recursive: true });
    writeFileSync(path.join(home, `history/intermediate/${application}/config.xml`), "");
    await expect(shown(application)).rejects.toThrow(`${application} left no ${seriesFile} in its history`);
    await stored(`history/intermediate/${application}`, new SeriesTable(0, 1));
    for (const wanted of [undefined, "worker"])
      await expect(shown(application, wanted)).rejects.toThrow(
        `No task of ${application} ran long enough to be measured`,
      );
    truncateSync(path.join(home, `history/intermediate/${application}`, seriesFile), 64 * 2 ** 20 + 1);
    await expect(shown(application)).rejects.toThrow("that is longer than any of ours");
    await stored(`history/intermediate/${application}`, twoWorkers());
    await expect(shown(application, "ps")).rejects.toThrow(
      "Nothing is known about ps over time, only about worker:0, worker:1",
    );
  });
});

describe("an ended run", () => {
  const run = async () => {
    const context = recordedContext({ workingDirectory: home, environment: { HADOOP_HOME: "/nowhere" } });
    const status = aJobStatus({ applicationId: application, outcome: { ...allSucceeded, endedAtMs: noonishMs } });
    const place = aPlace({ report: async () => ended(application), finalStatus: async () => status });
    const conf = [`tony.history.location=file://${path.join(home, "history")}`];
    const { series } = await runOf(application, conf, place, context);
    return { tasks: series?.rows.map(({ task }) => task), told: context.err.text };
  };

  test("is judged by what its history has of its tasks", async () => {
    await stored(`history/intermediate/${application}`, twoWorkers());
    expect(await run()).toEqual({ tasks: ["worker:0", "worker:1"], told: "" });
  });

  test("is judged without, where it has none; a history that cannot be read is told of", async () => {
    expect(await run()).toEqual({ tasks: undefined, told: "" });
    mkdirSync(path.join(home, `history/intermediate/${application}`), { recursive: true });
    writeFileSync(path.join(home, `history/intermediate/${application}`, seriesFile), "no series");
    expect(await run()).toEqual({ tasks: undefined, told: expect.stringMatching(new RegExp(`^${application}: `)) });
  });
});
