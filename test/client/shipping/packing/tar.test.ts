import { expect, test } from "@jest/globals";
import { type TarEntry, tarEnd, tarHeader, tarPadding } from "../../../../client/shipping/packing/tar.ts";

const common = { mode: 0o644, modificationTimeSeconds: 8 };
const file = (path: string, sizeBytes = 0): TarEntry => ({ ...common, type: "file", path, sizeBytes });
const text = (entry: TarEntry) => tarHeader(entry).toString("utf8");

/** The blocks of a header: one, or with what does not fit into one, three. */
const blocks = (entry: TarEntry) => tarHeader(entry).length / 512;

test("what fits into one block has one; what does not has its length, name and value in front", () => {
  expect([blocks(file("a".repeat(100))), blocks(file("a".repeat(101)))]).toEqual([1, 3]);
  expect(text(file("a".repeat(101)))).toContain(`111 path=${"a".repeat(101)}\n`);
  // The record's own length has a digit more than the rest of it would need.
  expect(text(file("ä".repeat(46)))).toContain(`102 path=${"ä".repeat(46)}\n`);
  const link = (target: string): TarEntry => ({ ...common, type: "symlink", path: "l", target });
  expect([blocks(link("t".repeat(100))), blocks(link("t".repeat(101)))]).toEqual([1, 3]);
  expect(text(link("t".repeat(101)))).toContain(`115 linkpath=${"t".repeat(101)}\n`);
  expect([blocks(file("big", 8 ** 11 - 1)), blocks(file("big", 8 ** 11))]).toEqual([1, 3]);
  expect(text(file("big", 8 ** 11))).toContain("19 size=8589934592\n");
});

test("who packs it and when a file from before 1970 was written make no difference", () => {
  const field = (entry: TarEntry, start: number, end: number) => tarHeader(entry).toString("latin1", start, end);
  expect(field(file("a"), 100, 124)).toBe("0000644\x000000000\x000000000\x00");
  expect(field(file("a"), 136, 148)).toBe("00000000010\x00");
  expect(field({ ...file("a"), modificationTimeSeconds: -1 }, 136, 148)).toBe("00000000000\x00");
  expect(field({ ...common, type: "directory", path: "d" }, 0, 3)).toBe("d/\x00");
});

test("blocks are full, and two empty ones are the end", () => {
  expect([0, 1, 511, 512, 513].map((bytes) => tarPadding(bytes).length)).toEqual([0, 511, 1, 0, 511]);
  expect(tarEnd.equals(Buffer.alloc(1024))).toBe(true);
});
