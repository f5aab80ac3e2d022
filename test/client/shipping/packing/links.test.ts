import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { readTree } from "../../../../client/shipping/packing/directory-tree.ts";
import { isPrivate, lostLinks, privateLinks } from "../../../../client/shipping/packing/links.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();
const at = (...names: readonly string[]) => path.join(folder.path, ...names);

/** @param mode of a file and of the folder around it */
function file(name: string, mode: number, folderMode: number): string {
  chmodSync(folder.path, 0o755);
  mkdirSync(at(name), { recursive: true });
  writeFileSync(at(name, "f"), "");
  chmodSync(at(name, "f"), mode);
  chmodSync(at(name), folderMode);
  return at(name, "f");
}

test("a file is private that others may not read, or whose folders they may not enter, whichever way leads there", async () => {
  expect(await isPrivate(file("open", 0o644, 0o755))).toBe(false);
  expect(await isPrivate(file("unreadable", 0o640, 0o755))).toBe(true);
  expect(await isPrivate(file("entered", 0o644, 0o711))).toBe(false);
  expect(await isPrivate(file("closed", 0o644, 0o750))).toBe(true);
  symlinkSync(at("closed"), at("to-closed"));
  expect(await isPrivate(at("to-closed/f"))).toBe(true);
  mkdirSync(at("shut"));
  symlinkSync(at("open"), at("shut/to-open"));
  chmodSync(at("shut"), 0o700);
  expect(await isPrivate(at("shut/to-open/f"))).toBe(true);
  expect(await isPrivate(at("gone"))).toBe(false);
});

const nothingLeftOut = async () => false;

test("of a folder's links those are private whose absolute targets are; a link within it goes with it", async () => {
  mkdirSync(at("tree"));
  const target = file("closed", 0o600, 0o700);
  symlinkSync(target, at("tree/private"));
  symlinkSync(file("open", 0o644, 0o755), at("tree/open"));
  writeFileSync(at("tree/own"), "", { mode: 0o600 });
  symlinkSync("own", at("tree/within"));
  const tree = await readTree(at("tree"), nothingLeftOut);
  expect(await privateLinks(tree)).toMatchObject([{ path: "private", target }]);
});

test("links are lost that lead to nothing, or to what is left out; an absolute one is somebody else's matter", async () => {
  mkdirSync(at("tree/lib/data"), { recursive: true });
  writeFileSync(at("tree/lib/data/x"), "");
  const told = async () => lostLinks(await readTree(at("tree"), async (entry) => entry.path === "lib/data"));
  symlinkSync("/gone", at("tree/absolute"));
  expect(await told()).toEqual([]);
  symlinkSync("gone", at("tree/lost"));
  expect(await told()).toEqual(["lost is a link to gone, which does not exist"]);
  symlinkSync("lib/data/x", at("tree/also"));
  expect(await told()).toEqual([
    "also is a link to lib/data/x, which is left out: on a node it leads nowhere (and 1 more like it)",
  ]);
});
