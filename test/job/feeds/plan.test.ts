import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Cut, isCut, strayBytes } from "../../../src/job/feeds/cut.ts";
import { type InputFile, Listing } from "../../../src/job/feeds/listing.ts";
import {
  orderOf,
  planOf as planOfListing,
  planWith,
  type Split,
  splitAt,
  watermarkOf,
} from "../../../src/job/feeds/plan.ts";

const file = (path: string, length: number) => ({ path, length, modifiedMs: 0 });
const lines: Cut = { format: "lines", splitBytes: 100 };
const planOf = (files: readonly InputFile[], cut: Cut) => planOfListing(Listing.of(files), cut);
const parts = ({ file: { path }, start, end }: Split) => `${path} ${start}-${end}`;

function splitsOf(files: readonly { readonly path: string; readonly length: number }[], cut: Cut): Split[] {
  const plan = planOf(
    files.map(({ path, length }) => file(path, length)),
    cut,
  );
  return Array.from({ length: plan.splits }, (_, number) => splitAt(plan, number)).filter((one) => one !== undefined);
}

describe("the splits of a feed", () => {
  test("are parts of its files, in the order of their paths, whatever order they were listed in", () => {
    const expected = ["/a 0-100", "/a 100-200", "/a 200-250", "/b 0-50"];
    expect(splitsOf([file("/a", 250), file("/b", 50)], lines).map(parts)).toEqual(expected);
    expect(splitsOf([file("/b", 50), file("/a", 250), file("/b", 50)], lines).map(parts)).toEqual(expected);
  });

  test("leave no few bytes for a last one", () => {
    expect(splitsOf([file("/a", 210)], lines).map(parts)).toEqual(["/a 0-100", "/a 100-210"]);
    expect(splitsOf([file("/a", 211)], lines).map(parts)).toEqual(["/a 0-100", "/a 100-200", "/a 200-211"]);
  });

  test("end where a record ends", () => {
    const cut: Cut = { format: "fixed", splitBytes: 100, recordBytes: 30 };
    expect(splitsOf([file("/a", 240)], cut).map(parts)).toEqual(["/a 0-90", "/a 90-180", "/a 180-240"]);
    expect(splitsOf([file("/a", 900)], { ...cut, recordBytes: 300 })).toHaveLength(3);
    expect(strayBytes(cut, 247)).toBe(7);
    expect(strayBytes(lines, 247)).toBe(0);
  });

  test("are whole files where files are not to be cut, or cannot be read from the middle", () => {
    expect(splitsOf([file("/a", 250)], { format: "file" }).map(parts)).toEqual(["/a 0-250"]);
    expect(splitsOf([file("/a.csv.gz", 250)], lines).map(parts)).toEqual(["/a.csv.gz 0-250"]);
    expect(splitsOf([file("/a", 250)], { format: "tfrecord" }).map(parts)).toEqual(["/a 0-250"]);
    expect(isCut(lines, "/a.ZST")).toBe(false);
    // Bytes are what is there, compressed or not.
    expect(isCut({ format: "bytes", splitBytes: 100 }, "/a.gz")).toBe(true);
    expect(splitsOf([file("/a.avro", 250)], { format: "avro", splitBytes: 200 })).toHaveLength(2);
    expect(splitsOf([file("/a", 250)], { format: "parquet", splitBytes: 200 })).toHaveLength(2);
  });

  test("are none of a file that is empty", () => {
    expect(splitsOf([file("/a", 0), file("/b", 10), file("/c", 0)], lines).map(parts)).toEqual(["/b 0-10"]);
    expect(planOf([], lines)).toMatchObject({ splits: 0, bytes: 0 });
    expect(splitAt(planOf([file("/a", 10)], lines), 1)).toBeUndefined();
    expect(splitAt(planOf([file("/a", 10)], lines), -1)).toBeUndefined();
  });

  test("have every byte of every file once", () => {
    const listings = fc.uniqueArray(fc.record({ path: fc.string({ minLength: 1 }), length: fc.nat(300) }), {
      maxLength: 8,
      selector: ({ path }) => path,
    });
    const cuts = fc.oneof(
      fc.record({
        format: fc.constantFrom("lines" as const, "bytes" as const),
        splitBytes: fc.integer({ min: 1, max: 999 }),
      }),
      fc.record({
        format: fc.constant("fixed" as const),
        splitBytes: fc.integer({ min: 1, max: 999 }),
        recordBytes: fc.integer({ min: 1, max: 99 }),
      }),
      fc.constant({ format: "file" as const }),
    );
    fc.assert(
      fc.property(listings, cuts, (files, cut) => {
        const splits = splitsOf(files, cut);
        expect(splits.every(({ start, end }) => start < end)).toBe(true);
        for (const { path, length } of files) {
          let read = 0;
          for (const { start, end } of splits.filter((split) => split.file.path === path)) {
            expect(start).toBe(read);
            read = end;
          }
          expect(read).toBe(length);
        }
      }),
    );
  });
});

describe("a plan that grows", () => {
  const lines = { format: "lines", splitBytes: 10 } as const;
  const file = (path: string, length: number, modifiedMs = 1) => ({ path, length, modifiedMs });

  test("keeps the numbers of its splits, and has new ones behind them", () => {
    const first = planOf([file("b", 15), file("d", 5)], lines);
    const grown = planWith(first, Listing.of([file("c", 5), file("a", 12)]));
    expect([grown.splits, grown.bytes]).toEqual([6, 37]);
    expect(Array.from({ length: 3 }, (_, number) => splitAt(grown, number))).toEqual(
      Array.from({ length: 3 }, (_, number) => splitAt(first, number)),
    );
    expect([3, 4, 5].map((number) => splitAt(grown, number))).toMatchObject([
      { file: { path: "a" }, start: 0, end: 10 },
      { file: { path: "a" }, start: 10, end: 12 },
      { file: { path: "c" }, start: 0, end: 5 },
    ]);
    expect(splitAt(grown, 6)).toBeUndefined();
  });

  test("says before when all that was written is used", () => {
    const plan = planWith(planOf([file("a", 5, 30)], lines), Listing.of([file("b", 5, 20), file("c", 5, 40)]));
    expect([0, 1, Number.POSITIVE_INFINITY].map((unfinished) => watermarkOf(plan, unfinished))).toEqual([20, 20, 41]);
    expect(watermarkOf(planOf([], lines), Number.POSITIVE_INFINITY)).toBeUndefined();
  });
});

describe("the order of an epoch", () => {
  test("is that of the plan without a seed", () => {
    expect([...orderOf(4, undefined, 7)]).toEqual([0, 1, 2, 3]);
    expect([...orderOf(0, 1, 0)]).toEqual([]);
  });

  test("has each split once, and is the same for the same seed and epoch only", () => {
    const order = orderOf(1_000, 1, 0);
    expect([...order].sort((left, right) => left - right)).toEqual([...orderOf(1_000, undefined, 0)]);
    expect(orderOf(1_000, 1, 0)).toEqual(order);
    expect(orderOf(1_000, 1, 1)).not.toEqual(order);
    expect(orderOf(1_000, 2, 0)).not.toEqual(order);
  });

  test("stays as it is: a checkpoint of today is read by a later release", () => {
    expect([...orderOf(8, 42, 3)]).toMatchInlineSnapshot(`
[
  3,
  2,
  5,
  7,
  6,
  4,
  0,
  1,
]
`);
  });

  test("is each of those there are about as often", () => {
    const seen = new Map<string, number>();
    for (let seed = 0; seed < 6_000; seed += 1) {
      const order = orderOf(3, seed, 0).join("");
      seen.set(order, (seen.get(order) ?? 0) + 1);
    }
    const counts = [...seen.values()];
    expect(counts).toHaveLength(6);
    // 1,000 expected of each: five standard deviations are 145.
    expect(Math.max(...counts.map((count) => Math.abs(count - 1_000)))).toBeLessThan(145);
  });
});
