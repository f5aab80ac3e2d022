import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { SplitResults } from "../../../executor/feeds/results.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
let results: SplitResults;
beforeEach(() => {
  results = new SplitResults(path.join(folder.path, "own"));
});

const place = () => ({ fileSystem: new LocalFileSystem(), path: path.join(folder.path, "output") });
const rows = (text: string) => Buffer.from(text);

/** Every file where results are kept, drafts too. */
function stored(): Record<string, string> {
  const files = readdirSync(place().path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [name, readFileSync(path.join(parentPath, name), "utf8")]),
  );
}

describe("what a program makes of a split", () => {
  test("is one file, by the split's number, with all that was added for its lease in that order", async () => {
    await results.add(7, rows("one\n"));
    await results.add(8, rows("another's\n"));
    await results.add(7, rows("two\n"));
    await results.store(7, 12, place());
    expect(stored()).toEqual({ "part-0000012": "one\ntwo\n" });
  });

  test("is an empty file where it made nothing of it", async () => {
    await results.store(7, 12, place());
    expect(stored()).toEqual({ "part-0000012": "" });
  });

  test("stays as it was stored first, and leaves nothing beside that", async () => {
    await results.add(7, rows("first\n"));
    await results.store(7, 12, place());
    await results.add(9, rows("by another lease\n"));
    await results.store(9, 12, place());
    expect(stored()).toEqual({ "part-0000012": "first\n" });
  });

  test("is gone when it is dropped, and no other's", async () => {
    await results.add(7, rows("seven\n"));
    await results.add(8, rows("eight\n"));
    await results.drop(7);
    await results.drop(99);
    for (const lease of [7, 8]) await results.store(lease, lease, place());
    expect(stored()).toEqual({ "part-0000007": "", "part-0000008": "eight\n" });
  });

  test("is gone when all is, and what comes then is kept as before", async () => {
    await results.add(7, rows("of the process before\n"));
    await results.dropAll();
    await results.add(7, rows("its own\n"));
    await results.store(7, 0, place());
    expect(stored()).toEqual({ "part-0000000": "its own\n" });
  });
});
