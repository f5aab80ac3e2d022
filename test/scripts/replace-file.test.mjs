import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { replaceFile } from "../../scripts/replace-file.mjs";

/** @type {string} */
let folder;
/** @type {string} */
let file;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tony-replace-"));
  file = join(folder, "made", "file");
});
afterEach(() => rmSync(folder, { recursive: true }));

const inode = () => statSync(file).ino;

test("a file with that content already is not touched; another content is another file, put in its place whole", () => {
  replaceFile(file, "one", 0o755);
  const first = inode();
  replaceFile(file, "one");
  expect([inode(), statSync(file).mode & 0o777]).toEqual([first, 0o755]);
  replaceFile(file, Buffer.from("two"));
  expect(inode()).not.toBe(first);
  expect(readFileSync(file, "utf8")).toBe("two");
  expect(readdirSync(dirname(file))).toEqual(["file"]);
});
