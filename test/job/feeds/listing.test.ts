import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type InputFile, Listing } from "../../../src/job/feeds/listing.ts";

const again = (listing: Listing) => Listing.shape(JSON.parse(JSON.stringify(listing)), "feeds.train");
const numbered = (count: number): InputFile[] =>
  Array.from({ length: count }, (_, number) => ({
    path: `hdfs://nn:8020/clicks/2026-11-27/part-${String(number).padStart(5, "0")}`,
    length: number,
    modifiedMs: 1_795_000_000_000 + number,
  }));

describe("a listing", () => {
  const anyFile = fc.record({
    path: fc.string({ unit: "binary" }),
    length: fc.maxSafeNat(),
    modifiedMs: fc.maxSafeNat(),
  });
  const anyFiles = fc.uniqueArray(anyFile, { selector: ({ path }) => path });

  test("has each file once, in the order of the paths, also when it was JSON", () => {
    fc.assert(
      fc.property(anyFiles, (files) => {
        const listing = Listing.of([...files, ...files]);
        const sorted = [...files].sort((left, right) => (left.path < right.path ? -1 : 1));
        expect([...listing]).toEqual(sorted);
        expect([...again(listing)]).toEqual(sorted);
        expect(listing.size).toBe(files.length);
      }),
    );
  });

  test("finds a file by its place, in those that came later, too", () => {
    const files = numbered(1_000);
    const listing = again(Listing.of(files.slice(300)).followedBy(Listing.of(files.slice(0, 300))));
    const places = [0, 255, 256, 699, 700, 955, 956, 999];
    const expected = places.map((place) => files[place < 700 ? place + 300 : place - 700]);
    expect(places.map((place) => listing.at(place))).toEqual(expected);
    expect([listing.at(-1), listing.at(1_000), Listing.of([]).at(0)]).toEqual([undefined, undefined, undefined]);
  });

  test("takes some 35 bytes a file, where names alone differ", () => {
    expect(JSON.stringify(Listing.of(numbered(10_000))).length).toBeLessThan(400_000);
  });

  test.each([
    ["no list", {}],
    ["no texts", [1]],
    ["not all of a file", ['{"prefix":"/","rests":["a"],"lengths":[],"modifiedMs":[1]}']],
    ["a length that is none", ['{"prefix":"/","rests":["a"],"lengths":[-1],"modifiedMs":[1]}']],
  ])("is refused where it is %s", (_, json) => {
    expect(() => Listing.shape(json, "feeds.train")).toThrow("feeds.train");
  });
});
