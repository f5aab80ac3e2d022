import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readTree, type Tree } from "../../../client/shipping/packing/directory-tree.ts";
import { packDirectory } from "../../../client/shipping/packing/pack-directory.ts";
import { unpackingFault, unpackTar } from "../../../executor/preparation/unpack-tar.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const base = temporaryFolder();
let folder: string;
beforeEach(() => {
  folder = path.join(base.path, "program");
  mkdirSync(folder);
});

const treeOf = (root: string): Promise<Tree> => readTree(root, async () => false);

async function unpacked(name: string): Promise<string> {
  const archive = path.join(base.path, `${name}.tar.gz`);
  await packDirectory(await treeOf(folder), archive);
  const target = path.join(base.path, name);
  mkdirSync(target);
  await unpackTar(archive, target);
  return target;
}

const entriesOf = ({ entries }: Tree) => entries.map(({ entry }) => entry);

test("a packed folder comes out as it went in: names, modes, times, links, and content of every length", async () => {
  const long = "n".repeat(150);
  mkdirSync(path.join(folder, long, "é\nü"), { recursive: true });
  mkdirSync(path.join(folder, "empty"));
  writeFileSync(path.join(folder, "none"), "");
  writeFileSync(path.join(folder, "block"), Buffer.alloc(512, 1));
  writeFileSync(path.join(folder, long, "é\nü", "large"), Buffer.alloc(3_000_001, 2));
  chmodSync(path.join(folder, "block"), 0o755);
  utimesSync(path.join(folder, "block"), 1_600_000_000, 1_600_000_000);
  symlinkSync(`${long}/é\nü/large`, path.join(folder, "link"));
  symlinkSync("/usr/bin/python3", path.join(folder, "python"));

  const target = await unpacked("target");
  expect(entriesOf(await treeOf(target))).toEqual(entriesOf(await treeOf(folder)));
  const sizes = ["none", "block", path.join(long, "é\nü", "large")].map((name) => {
    const content = readFileSync(path.join(target, name));
    expect(content.equals(readFileSync(path.join(folder, name)))).toBe(true);
    return content.length;
  });
  expect(sizes).toEqual([0, 512, 3_000_001]);
});

test("any names of files come out", async () => {
  const part = fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" }).map((text) => text.replace(/[/\0]/g, "_"));
  const usable = part.filter((name) => name !== "." && name !== ".." && Buffer.byteLength(name) < 200);
  let count = 0;
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(usable, { minLength: 1, maxLength: 5 }), async (names) => {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
      for (const name of names) writeFileSync(path.join(folder, name), name);
      const target = await unpacked(`target-${count++}`);
      expect(entriesOf(await treeOf(target))).toEqual(entriesOf(await treeOf(folder)));
    }),
    { numRuns: 30, examples: [[["a name with \ufffd in it"]]] },
  );
});

test("a folder that its owner may not write to is filled all the same", async () => {
  mkdirSync(path.join(folder, "sealed"));
  writeFileSync(path.join(folder, "sealed/file"), "content");
  chmodSync(path.join(folder, "sealed"), 0o555);
  const target = await unpacked("target");
  chmodSync(path.join(folder, "sealed"), 0o755);
  expect(readFileSync(path.join(target, "sealed/file"), "utf8")).toBe("content");
});

test("an archive that was cut short is refused", async () => {
  writeFileSync(path.join(folder, "file"), Buffer.alloc(5000, 3));
  const archive = path.join(base.path, "whole.tar.gz");
  await packDirectory(await treeOf(folder), archive);
  const cut = path.join(base.path, "cut.tar.gz");
  execFileSync("bash", ["-c", `gzip -dc "$1" | head -c 2000 | gzip > "$2"`, "cut", archive, cut]);
  mkdirSync(path.join(base.path, "target"));
  await expect(unpackTar(cut, path.join(base.path, "target"))).rejects.toThrow("ends too early");
});

test.each([
  ["a length", { at: 124, with: "x" }],
  ["a mode", { at: 100, with: "x" }],
  ["a long name", { at: 512 + 100, with: "\0" }],
])("an archive in which %s is damaged is refused", async (_what, { at, with: byte }) => {
  writeFileSync(path.join(folder, "n".repeat(150)), "content");
  const archive = path.join(base.path, "whole.tar.gz");
  await packDirectory(await treeOf(folder), archive);
  const tar = gunzipSync(readFileSync(archive));
  tar.write(byte, at);
  writeFileSync(archive, gzipSync(tar));
  mkdirSync(path.join(base.path, "target"));
  await expect(unpackTar(archive, path.join(base.path, "target"))).rejects.toMatchObject({ code: "LOCALIZATION" });
});

test("a full disk is named, and an archive that is none keeps its own words", () => {
  for (const code of ["ENOSPC", "EDQUOT"]) {
    const cause = Object.assign(new Error("no space left on device, write"), { code });
    expect(unpackingFault(cause, "/data/yarn/c_1")).toMatchObject({
      message: "the disk of /data/yarn/c_1 has no room for the files of --src_dir",
      ...{ code: "DISK_FULL", cause },
    });
  }
  const other = new Error("incorrect header check");
  expect(unpackingFault(other, "/data/yarn/c_1")).toBe(other);
});
