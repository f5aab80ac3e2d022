import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "@jest/globals";
import { type RangeSource, zipEntries } from "../../src/archives/zip.ts";
import { writeZip, type ZipMember } from "../support/zip-writer.ts";

const folder = mkdtempSync(path.join(tmpdir(), "tony-zip-"));
afterAll(() => rmSync(folder, { recursive: true }));

const members: readonly ZipMember[] = [
  { path: "bin/", mode: 0o40700 },
  { path: "made/by/nobody/", mode: 0 },
  { path: "bin/run", mode: 0o100755, content: "#!/bin/sh" },
  { path: "plain", mode: 0, content: "" },
  { path: "link", mode: 0o120777, content: "bin/run" },
];

const said = async (source: string | RangeSource) => {
  const entries: unknown[] = [];
  for await (const entry of zipEntries(source)) {
    const { path: name, mode, type } = entry;
    const content = type === "file" ? await text(await entry.open()) : type === "symlink" ? await entry.target() : "";
    entries.push([name, type, mode.toString(8), content, ...(type === "file" ? [entry.sizeBytes] : [])]);
  }
  return entries;
};
const expected = [
  ["bin", "directory", "700", ""],
  ["made/by/nobody", "directory", "755", ""],
  ["bin/run", "file", "755", "#!/bin/sh", 9],
  ["plain", "file", "644", "", 0],
  ["link", "symlink", "777", "bin/run"],
];

/** What is read of a zip that lies elsewhere. */
function elsewhere(zip: Buffer) {
  const reads: [number, number][] = [];
  const source: RangeSource = {
    lengthBytes: zip.length,
    read: async (offset, lengthBytes) => {
      reads.push([offset, lengthBytes]);
      return zip.subarray(offset, offset + lengthBytes);
    },
  };
  return { source, reads };
}

test("entries of a zip have the types and permissions that it records, and usual ones where it records none", async () => {
  const file = path.join(folder, "one.zip");
  writeFileSync(file, writeZip(members));
  expect(await said(file)).toEqual(expected);
});

test("a zip that lies elsewhere is the same, in few reads, none of them beyond its end", async () => {
  const zip = writeZip(members);
  const { source, reads } = elsewhere(zip);
  expect(await said(source)).toEqual(expected);
  expect(reads.length).toBeLessThanOrEqual(3);
  expect(reads.filter(([offset, length]) => offset + length > zip.length)).toEqual([]);
});

test("what is larger than a read is read piece by piece, and nothing of what is not opened", async () => {
  const large = "0123456789".repeat(300_000);
  const zip = writeZip([
    { path: "unopened", mode: 0o100644, content: large },
    { path: "large", mode: 0o100644, content: large },
  ]);
  const { source, reads } = elsewhere(zip);
  const contents: string[] = [];
  for await (const entry of zipEntries(source))
    if (entry.type === "file" && entry.path === "large") contents.push(await text(await entry.open()));
  expect(contents).toEqual([large]);
  expect(reads.every(([, length]) => length <= 2 ** 20)).toBe(true);
  expect(reads.reduce((sum, [, length]) => sum + length, 0)).toBeLessThan(2 * large.length);
});

test("the target of a link is no longer than a path may be", async () => {
  const linkTo = async (target: string) =>
    await said(elsewhere(writeZip([{ path: "link", mode: 0o120777, content: target }])).source);
  expect(await linkTo("x".repeat(4_096))).toHaveLength(1);
  await expect(linkTo("x".repeat(4_097))).rejects.toThrow("link is too long for a link's target");
});
