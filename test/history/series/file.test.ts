import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { decodeSeries, encodeSeries } from "../../../src/history/series/file.ts";
import { SeriesTable } from "../../../src/history/series/table.ts";

const fromMs = 1_700_000_000_000;
const job = { applicationId: "application_1_0001", attempt: 2 };
const packed = (...lines: readonly unknown[]) => gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
const axis = { seriesVersion: 1, ...job, fromMs, spanMs: 5_000 };

describe("the file of a job's series", () => {
  test("is read as it was written, to four digits", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2_000_000 }), fc.double({ min: -1e6, max: 1e6, noNaN: true }))),
        async (samples) => {
          const table = new SeriesTable(fromMs, 1);
          for (const [afterMs, value] of samples)
            table.add("worker:0", { name: "metric:loss", rule: "mean" }, fromMs + afterMs, value);
          const read = decodeSeries(await encodeSeries(job, table, () => 1024));
          expect(read.axis).toEqual({ ...axis, spanMs: table.spanMs });
          const [series] = table.seriesOf("worker:0");
          const values = read.rows[0]?.series[0]?.values ?? [];
          expect(values).toHaveLength(series?.values.length ?? 0);
          const differ = values.filter((value, index) => {
            const before = series?.values[index] ?? null;
            if (value === null || before === null) return value !== before;
            return Math.abs(value - before) > Math.abs(before) * 1e-3;
          });
          expect(differ).toEqual([]);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("has whole per cent of a GPU by itself", async () => {
    const table = new SeriesTable(fromMs, 1);
    for (const name of ["gpu", "gpu:0", "gpu-memory:12"]) table.add("worker:0", { name, rule: "mean" }, fromMs, 49.6);
    table.add("worker:0", { name: "gpu:0", rule: "mean" }, fromMs + 10_000, 1.2);
    const { rows } = decodeSeries(await encodeSeries(job, table, () => 0));
    expect(rows[0]?.series.map(({ values }) => values)).toEqual([[49.6], [50, null, 1], [50]]);
  });

  test("has a line for each task in the order asked for, with its container's memory", async () => {
    const table = new SeriesTable(fromMs, 3);
    for (const task of ["a:0", "b:0", "c:0"]) table.add(task, { name: "cpu", rule: "mean" }, fromMs, 1);
    const memory = (task: string) => (task === "a:0" ? 1 : 2);
    const read = async (...tasks: string[][]) =>
      decodeSeries(await encodeSeries(job, table, memory, ...tasks)).rows.map(
        ({ task, memoryLimitBytes }) => `${task} ${memoryLimitBytes}`,
      );
    expect(await read()).toEqual(["a:0 1", "b:0 2", "c:0 2"]);
    expect(await read(["c:0", "a:0"])).toEqual(["c:0 2", "a:0 1"]);
  });

  test("counts exactly what is counted", async () => {
    const table = new SeriesTable(fromMs, 1);
    table.add("worker:0", { name: "step", rule: "last" }, fromMs, 123_456_789_012);
    const { rows } = decodeSeries(await encodeSeries(job, table, () => 0));
    expect(rows[0]?.series[0]?.values).toEqual([123_456_789_012]);
  });

  test("has at most 30 KiB for a task that ran a day and reported all that is kept, none of it smooth", async () => {
    const table = new SeriesTable(fromMs, 100);
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    // The longest that still has all its spans: just before they are halved.
    const lengthMs = 480 * 160_000 - 1;
    for (let atMs = 0; atMs <= lengthMs; atMs += 5_000) {
      // What is measured comes before what a program reports.
      const add = (name: string, rule: "mean" | "most" | "last", value: number, isSpare = false) =>
        table.add("worker:0", { name, rule, isSpare }, fromMs + atMs, value);
      add("cpu", "mean", 8 * random());
      add("memory", "most", Math.floor(8 * 1024 ** 3 * random()));
      add("gpu", "mean", 100 * random());
      add("gpu-memory", "mean", 100 * random());
      for (let gpu = 0; gpu < 8; gpu++) add(`gpu:${gpu}`, "mean", 100 * random());
      for (let gpu = 0; gpu < 8; gpu++) add(`gpu-memory:${gpu}`, "mean", 100 * random());
      add("disk-read", "mean", 1e9 * random());
      add("disk-written", "mean", 1e9 * random());
      add("step", "last", Math.floor(atMs * (1 + random())));
      for (let metric = 0; metric < 32; metric++) add(`metric:${metric}`, "mean", random(), true);
    }
    const bytes = (await encodeSeries(job, table, () => 8 * 1024 ** 3)).length;
    expect(bytes).toBeLessThanOrEqual(30 * 1024);
  });

  test.each([
    ["no gzip", Buffer.from("{}\n")],
    ["cut off", packed(axis).subarray(0, 20)],
    ["empty", gzipSync("")],
    ["of another version", packed({ ...axis, seriesVersion: 2 })],
    ["of a line that nobody of ours writes", packed(axis, "x".repeat(33 * 2 ** 20))],
    ["larger than that of any job", gzipSync(Buffer.alloc(129 * 2 ** 20, "\n"))],
    ["without a span", packed({ ...axis, spanMs: 0 })],
    [
      "of text for a value",
      packed(axis, {
        task: "a:0",
        memoryLimitBytes: 1,
        series: [{ name: "x", rule: "mean", first: 0, values: ["1"] }],
      }),
    ],
    [
      "of an unknown rule",
      packed(axis, { task: "a:0", memoryLimitBytes: 1, series: [{ name: "x", rule: "least", first: 0, values: [] }] }),
    ],
  ])("is refused where it is %s", (_what, bytes) => {
    expect(() => decodeSeries(bytes)).toThrow(expect.objectContaining({ code: "SERIES_UNREADABLE" }));
  });
});
