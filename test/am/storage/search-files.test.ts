import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { storeSearchFiles } from "../../../am/storage/search-files.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "search-files-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("the files of a search are stored in each folder, which need not be there, and replace those of an earlier try", async () => {
  const fileSystem = new LocalFileSystem();
  const locate = (name: string) => ({ fileSystem, path: path.join(folder, name) });
  for (const text of ["1", "2"]) await storeSearchFiles({ "result.json": text }, ["a/b", "c"], { locate });
  for (const name of ["a/b", "c"]) {
    expect(readdirSync(path.join(folder, name))).toEqual(["result.json"]);
    expect(readFileSync(path.join(folder, name, "result.json"), "utf8")).toBe("2");
  }
});
