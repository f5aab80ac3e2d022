import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { type UnzipOptions, unzip } from "../../../../am/scheduler/local/unzip.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeZip, type ZipMember } from "../../../support/zip-writer.ts";

const base = temporaryFolder();
let target: string;
let outside: string;

beforeEach(() => {
  target = path.join(base.path, "target");
  outside = path.join(base.path, "outside");
  for (const folder of [target, outside]) mkdirSync(folder);
});

const file = (name: string, content = "new"): ZipMember => ({ path: name, mode: 0o100644, content });
const link = (name: string, to: string): ZipMember => ({ path: name, mode: 0o120777, content: to });

function unpacked(members: readonly ZipMember[], options?: UnzipOptions): Promise<void> {
  const archive = path.join(base.path, "archive.zip");
  writeFileSync(archive, writeZip(members));
  return unzip(archive, target, options);
}

test("permissions and links are as the archive has them, wherever a link leads", async () => {
  await unpacked([
    { path: "bin/", mode: 0o040755 },
    link("bin/python", "/usr/bin/python3"),
    { path: "bin/run", mode: 0o104755, content: "#!/bin/sh" },
    link("lib64", "lib"),
    file("lib/a.py"),
  ]);
  expect(readlinkSync(path.join(target, "bin/python"))).toBe("/usr/bin/python3");
  expect(readFileSync(path.join(target, "lib64/a.py"), "utf8")).toBe("new");
  expect(statSync(path.join(target, "bin/run")).mode & 0o7777).toBe(0o755);
});

describe("an archive that would write outside of its folder is refused, and nothing is there:", () => {
  const cases: readonly (readonly [string, (outside: string) => readonly ZipMember[]])[] = [
    ["a file through a link", (to) => [link("a", to), file("a/planted")]],
    ["a file through a link that comes after it", (to) => [file("a/planted"), link("a", to)]],
    ["a link through a link", (to) => [link("a", to), link("a/planted", "x")]],
    ["a folder through a link", (to) => [link("a", to), { path: "a/planted/", mode: 0o040755 }]],
    ["a file in place of a link", (to) => [link("a", path.join(to, "planted")), file("a")]],
    ["a name with ..", () => [file("../outside/planted")]],
    ["an absolute name", (to) => [file(path.join(to, "planted"))]],
  ];

  test.each(cases)("%s", async (_what, members) => {
    await expect(unpacked(members(outside))).rejects.toMatchObject({ code: "LOCALIZATION" });
    expect(readdirSync(outside)).toEqual([]);
  });
});

test("nothing is written twice", async () => {
  await expect(unpacked([file("a", "first"), file("a", "second")])).rejects.toThrow(/could not be unpacked: .*EEXIST/);
  expect(readFileSync(path.join(target, "a"), "utf8")).toBe("first");
});

test("an archive with more entries or bytes than there is room for is given up", async () => {
  await expect(unpacked([file("a"), file("b"), file("c")], { mostEntries: 2 })).rejects.toThrow("more than 2 entries");
  await expect(unpacked([file("d", "12345"), file("e", "6")], { mostBytes: 5 })).rejects.toThrow(
    "it holds more than the 5 B that there is room for",
  );
  expect(readdirSync(target)).not.toContain("e");
});

test("a link's target is no longer than a path can be", async () => {
  await expect(unpacked([link("a", "x".repeat(5_000))])).rejects.toThrow("a is too long for a link's target");
});
