import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { SeriesRule } from "../../../src/history/series/ring.ts";
import { FIRST_SPAN_MS, ratesOf, SeriesTable } from "../../../src/history/series/table.ts";

const fromMs = 1_700_000_000_000;
const task = "worker:0";

interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** What a table must say of a span, from all samples that fell into it. */
function expected(samples: readonly Sample[], rule: SeriesRule, span: number, spanMs: number): number | undefined {
  const inSpan = samples.filter(({ atMs }) => Math.floor((atMs - fromMs) / spanMs) === span).map(({ value }) => value);
  if (inSpan.length === 0) return undefined;
  if (rule === "most") return Math.max(...inSpan);
  if (rule === "last") return inSpan.at(-1);
  return inSpan.reduce((sum, value) => sum + value, 0) / inSpan.length;
}

const sampled = fc
  .array(fc.record({ afterMs: fc.integer({ min: 0, max: 900_000 }), value: fc.integer({ min: 0, max: 100_000 }) }), {
    minLength: 1,
    maxLength: 200,
  })
  .map((steps) => {
    let atMs = fromMs;
    return steps.map(({ afterMs, value }): Sample => {
      atMs += afterMs;
      return { atMs, value };
    });
  });

describe("a table of series", () => {
  test("has longer spans for all tasks at once, when the time of one outgrows them", () => {
    const table = new SeriesTable(fromMs, 2);
    const quantity = { name: "it", rule: "last" } as const;
    for (const [span, value] of [1, 2, 3].entries())
      for (const one of ["worker:0", "worker:1"]) table.add(one, quantity, fromMs + span * FIRST_SPAN_MS, value);
    table.add("worker:0", quantity, fromMs + table.spans * FIRST_SPAN_MS, 9);
    expect(table.spanMs).toBe(2 * FIRST_SPAN_MS);
    expect(table.seriesOf("worker:1")).toEqual([{ ...quantity, first: 0, values: [2, 3] }]);
  });

  test("says of each span what all samples in it come to, however often spans were halved, in memory that does not grow", () => {
    fc.assert(
      fc.property(sampled, fc.constantFrom<SeriesRule>("mean", "most", "last"), (samples, rule) => {
        const table = new SeriesTable(fromMs, 5_000);
        const quantity = { name: "it", rule };
        const [first] = samples;
        if (first !== undefined) table.add(task, quantity, first.atMs, first.value);
        const bytes = table.bytes;
        for (const { atMs, value } of samples.slice(1)) table.add(task, quantity, atMs, value);
        expect(table.bytes).toBe(bytes);

        const [series] = table.seriesOf(task);
        const last = samples.at(-1)?.atMs ?? 0;
        expect(last - fromMs).toBeLessThan(table.spanMs * table.spans);
        expect(table.spanMs === FIRST_SPAN_MS || last - fromMs >= (table.spanMs / 2) * table.spans).toBe(true);
        const at = (span: number) => (span < (series?.first ?? 0) ? undefined : series?.values[span - series.first]);
        const spans = Array.from({ length: table.spans }, (_, span) => span);
        const differ = spans.filter((span) => {
          const [told, wanted] = [at(span) ?? undefined, expected(samples, rule, span, table.spanMs)];
          return told === undefined || wanted === undefined ? told !== wanted : Math.abs(told - wanted) > 0.1;
        });
        expect(differ).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("has the mean of all values of a span, however many each of the halves had that it is made of", () => {
    const table = new SeriesTable(fromMs, 1);
    const heard = (span: number, ...values: readonly number[]) => {
      for (const value of values) table.add(task, { name: "cpu", rule: "mean" }, fromMs + span * FIRST_SPAN_MS, value);
    };
    heard(0, 2);
    heard(1, 8, 8, 8);
    heard(400, 4);
    heard(401, 10, 10);
    heard(table.spans, 1);
    heard(400, 0);
    const [{ first, values } = { first: -1, values: [] }] = table.seriesOf(task);
    expect([first, values.length, values[0], values[200], values[240]]).toEqual([0, 241, 6.5, 6, 1]);
  });

  test("has fewer spans for each of many tasks", () => {
    const spans = [1, 100, 101, 1_000, 4_000, 10_000].map((tasks) => new SeriesTable(fromMs, tasks).spans);
    expect(spans).toEqual([480, 480, 240, 240, 120, 60]);
  });

  test("keeps as many of the program's own quantities as there is room for, and always ours", () => {
    const table = new SeriesTable(fromMs, 1);
    for (let one = 0; one < 100; one++)
      table.add(task, { name: `metric:${one}`, rule: "mean", isSpare: true }, fromMs, one);
    table.add(task, { name: "cpu", rule: "mean" }, fromMs, 1);
    expect(table.seriesOf(task)).toHaveLength(23);
    expect(table.seriesOf(task).at(-1)?.name).toBe("cpu");
  });

  test("has four GPUs in the place of another quantity", () => {
    const table = new SeriesTable(fromMs, 1);
    for (let gpu = 0; gpu < 8; gpu++) table.add(task, { name: `gpu:${gpu}`, rule: "mean" }, fromMs, 1);
    for (let one = 0; one < 100; one++)
      table.add(task, { name: `metric:${one}`, rule: "mean", isSpare: true }, fromMs, one);
    expect(table.seriesOf(task)).toHaveLength(8 + 20);
  });

  test("takes a clock that was set back for its beginning, and no value that is none", () => {
    const table = new SeriesTable(fromMs, 1);
    table.add(task, { name: "cpu", rule: "mean" }, fromMs - 60_000, 2);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      table.add(task, { name: "memory", rule: "most" }, fromMs, value);
    expect(table.seriesOf(task)).toEqual([{ name: "cpu", rule: "mean", first: 0, values: [2] }]);
  });

  test("takes over what another one heard, at the moments that it was heard", () => {
    const earlier = new SeriesTable(fromMs, 1, 10_000);
    const quantity = { name: "step", rule: "last" } as const;
    for (const [afterMs, step] of [[20_000, 1] as const, [40_000, 3] as const])
      earlier.add(task, quantity, fromMs + afterMs, step);
    const later = new SeriesTable(fromMs - 30_000, 1, 5_000);
    later.addAll(task, earlier.seriesOf(task), earlier);
    expect(later.seriesOf(task)).toEqual([{ ...quantity, first: 10, values: [1, null, null, null, 3] }]);
  });

  test("takes at most 84 kB a task, 130 kB with eight GPUs, of ten thousand tasks 10 kB each", () => {
    const bytesOf = (tasks: number, gpus = 0) => {
      const table = new SeriesTable(fromMs, tasks);
      for (let one = 0; one < 40; one++) table.add(task, { name: `m${one}`, rule: "mean", isSpare: true }, fromMs, 1);
      for (const [name, rule] of [
        ["cpu", "mean"],
        ["memory", "most"],
        ["gpu", "mean"],
        ["gpu-memory", "mean"],
        ["disk-read", "mean"],
        ["disk-written", "mean"],
        ["step", "last"],
      ] as const)
        table.add(task, { name, rule }, fromMs, 1);
      for (let gpu = 0; gpu < gpus; gpu++) {
        table.add(task, { name: `gpu:${gpu}`, rule: "mean" }, fromMs, 1);
        table.add(task, { name: `gpu-memory:${gpu}`, rule: "mean" }, fromMs, 1);
      }
      return table.bytes;
    };
    expect([bytesOf(1), bytesOf(1_000), bytesOf(10_000)]).toEqual([83_520, 41_760, 10_440]);
    expect([bytesOf(1, 8), bytesOf(1_000, 8)]).toEqual([129_600, 64_800]);
  });
});

test("steps in a second are counted between spans that have any, and not over a new start", () => {
  expect(ratesOf([0, 50, null, 150, 10, 60], 5_000)).toEqual([10, null, 10, null, 10]);
  expect(ratesOf([10, 10], 5_000)).toEqual([0]);
  expect(ratesOf([null, 50], 5_000)).toEqual([10]);
  expect(ratesOf([], 5_000)).toEqual([]);
});
