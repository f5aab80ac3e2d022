import { writeFileSync } from "node:fs";
import path from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import { contentLengthBytes, contentUpTo, localFileContent, openContent } from "../../../src/hadoop/hdfs/content.ts";
import type { OpenOptions } from "../../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();

describe("content", () => {
  test("in memory is sent in pieces of 1 MiB, each time from its start", async () => {
    const bytes = Buffer.concat([Buffer.alloc(1_048_576, "a"), Buffer.from("bc")]);
    for (let time = 0; time < 2; time += 1) {
      const pieces: Buffer[] = await openContent(bytes).toArray();
      expect(pieces.map(({ length }) => length)).toEqual([1_048_576, 2]);
      expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
    }
    expect(await openContent(new Uint8Array()).toArray()).toEqual([]);
    expect(contentLengthBytes(bytes)).toBe(1_048_578);
  });

  test("of a source is what it opens; its length is known if the source says it", async () => {
    const open = () => Readable.from([Buffer.from("x")]);
    expect(await openContent({ open }).toArray()).toEqual([Buffer.from("x")]);
    expect(contentLengthBytes({ open, lengthBytes: 7 })).toBe(7);
    expect(contentLengthBytes({ open })).toBeUndefined();
  });

  test("of a local file is read anew each time, in pieces of 1 MiB", async () => {
    const file = path.join(folder.path, "data");
    writeFileSync(file, Buffer.alloc(1_048_577, "a"));
    const content = localFileContent(file, 1_048_577);
    expect(contentLengthBytes(content)).toBe(1_048_577);
    for (let time = 0; time < 2; time += 1) {
      const pieces: Buffer[] = await openContent(content).toArray();
      expect(pieces.map(({ length }) => length)).toEqual([1_048_576, 1]);
    }
  });
});

describe("a file that others may have written", () => {
  test("is read whole up to the limit, and not at all beyond it", async () => {
    const file = path.join(folder.path, "data");
    writeFileSync(file, "12345");
    const files = new LocalFileSystem();
    expect(String(await contentUpTo(files, file, 5))).toBe("12345");
    expect(await contentUpTo(files, file, 4)).toBeUndefined();
    await expect(contentUpTo(files, `${file}-2`, 4)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });

  test("is fetched no further than one byte beyond the limit", async () => {
    const asked: (OpenOptions | undefined)[] = [];
    const open = async (_path: string, options?: OpenOptions) => {
      asked.push(options);
      return Readable.from([Buffer.from("1")]);
    };
    await contentUpTo({ open }, "/f", 64);
    expect(asked).toEqual([{ lengthBytes: 65 }]);
  });
});
