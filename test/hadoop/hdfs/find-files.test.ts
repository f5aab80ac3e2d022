import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import { findFiles } from "../../../src/hadoop/hdfs/find-files.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const files = new LocalFileSystem();

beforeEach(() => {
  const write = (...names: readonly string[]) => {
    for (const name of names) {
      const file = path.join(folder.path, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, name);
    }
  };
  write("dt=1/part-0", "dt=1/part-1", "dt=1/_SUCCESS", "dt=1/.part-0.crc", "dt=1/deep/part-9");
  write("dt=2/part-0", "dt=2/sub/only", "_hidden/part-0", ".trash/part-0", "readme", "_notes");
});

/** The files found, relative to the folder. */
const found = async (pattern: string) =>
  (await findFiles(files, `${folder.path}/${pattern}`)).map((file) => path.relative(folder.path, file.path));

describe("the files that a path names", () => {
  test.each([
    ["a file", "dt=1/part-1", ["dt=1/part-1"]],
    ["a file, even one that is otherwise hidden", "dt=1/_SUCCESS", ["dt=1/_SUCCESS"]],
    ["a folder: the files right in it, but the hidden ones", "dt=1", ["dt=1/part-0", "dt=1/part-1"]],
    ["a folder with a slash behind it", "dt=2/", ["dt=2/part-0"]],
    ["a pattern of files", "dt=1/*-[0-9]", ["dt=1/part-0", "dt=1/part-1"]],
    ["a pattern of folders", "dt=*", ["dt=1/part-0", "dt=1/part-1", "dt=2/part-0"]],
    [
      "a pattern of files and folders, of which none hidden",
      "*",
      ["dt=1/part-0", "dt=1/part-1", "dt=2/part-0", "readme"],
    ],
    ["a pattern in the middle", "dt=?/part-0", ["dt=1/part-0", "dt=2/part-0"]],
    ["a pattern in the middle, below which some folders have no such file", "{dt=1,dt=2}/part-1", ["dt=1/part-1"]],
    ["patterns one below the other", "dt=*/s*/o*", ["dt=2/sub/only"]],
    ["a pattern below which there are files where folders are wanted", "*/part-1", ["dt=1/part-1"]],
    ["a pattern that matches nothing", "dt=9*", []],
    ["a pattern below a folder that is not there", "nowhere/*", []],
  ])("%s", async (_what, pattern, expected) => {
    expect(await found(pattern)).toEqual(expected);
  });

  test("have a length and a time", async () => {
    const file = path.join(folder.path, "readme");
    const { modificationTimeMs } = await files.stat(file);
    expect(await findFiles(files, file)).toEqual([{ path: file, length: 6, modifiedMs: modificationTimeMs }]);
  });

  test("are missed where a path without patterns names none", async () => {
    await expect(found("dt=3/part-0")).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  test("are not passed over when a folder among them cannot be read", async () => {
    const denied = async (at: string) => {
      if (at.endsWith("dt=2")) throw new FileSystemError("no", { code: "ACCESS_DENIED", path: at });
      return files.list(at);
    };
    const closed = { stat: (at: string) => files.stat(at), list: denied };
    await expect(findFiles(closed, `${folder.path}/dt=*/part-*`)).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    await expect(findFiles(closed, `${folder.path}/dt=*`)).rejects.toMatchObject({ code: "ACCESS_DENIED" });
  });
});
