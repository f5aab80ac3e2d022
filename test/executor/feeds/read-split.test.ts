import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readSplit } from "../../../executor/feeds/read-split.ts";
import { boundedLines } from "../../../executor/feeds/row-limit.ts";
import { TonyError } from "../../../src/errors.ts";
import type { FileStatus, FileSystem, OpenOptions } from "../../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import type { Cut } from "../../../src/job/feeds/cut.ts";
import { type InputFile, Listing } from "../../../src/job/feeds/listing.ts";
import { planOf, splitAt } from "../../../src/job/feeds/plan.ts";

const folder = mkdtempSync(path.join(tmpdir(), "splits-"));
afterAll(() => rmSync(folder, { recursive: true }));
const local = new LocalFileSystem();

async function written(name: string, content: string | Uint8Array): Promise<InputFile> {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  const { lengthBytes, modificationTimeMs } = await local.stat(file);
  return { path: file, length: lengthBytes, modifiedMs: modificationTimeMs };
}

/** One file, of which as much is read at a time; without a disk, as it is read hundreds of times. */
function inChunks(content: Buffer, { length, modifiedMs }: InputFile, bytes: number): FileSystem {
  const open = async (_file: string, { offset = 0, lengthBytes = content.length }: OpenOptions = {}) => {
    const part = content.subarray(offset, offset + lengthBytes);
    const count = Math.ceil(part.length / bytes);
    return Readable.from(
      Array.from({ length: count }, (_, index) => part.subarray(index * bytes, (index + 1) * bytes)),
    );
  };
  const stat = async (path: string): Promise<FileStatus> => ({
    ...{ path, type: "FILE", owner: "ada", group: "ada", permission: 0o600 },
    ...{ lengthBytes: length, modificationTimeMs: modifiedMs, accessTimeMs: 0 },
  });
  return Object.assign(new LocalFileSystem(), { open, stat });
}

/** What each split of the file holds. */
async function splitsOf(file: InputFile, cut: Cut, fileSystem: FileSystem = local): Promise<string[]> {
  const plan = planOf(Listing.of([file]), cut);
  const contents: string[] = [];
  for (let number = 0; number < plan.splits; number += 1) {
    const split = splitAt(plan, number);
    if (split === undefined) continue;
    contents.push((await buffer(readSplit({ fileSystem, path: file.path }, split, cut))).toString("latin1"));
  }
  return contents;
}

/** Of which each reading breaks off behind so many bytes. */
function breakingOff(bytes: number, retryable = true): FileSystem {
  const open = async (file: string, options: OpenOptions = {}) => {
    const content = await buffer(await local.open(file, options));
    if (content.length <= bytes) return Readable.from([content]);
    return Readable.from(
      (async function* () {
        yield content.subarray(0, bytes);
        throw new TonyError("the DataNode is gone", { code: "CONNECTION_LOST", retryable });
      })(),
    );
  };
  return Object.assign(new LocalFileSystem(), { open });
}

describe("the bytes of a split", () => {
  test("are those lines that begin in it, whole", async () => {
    const file = await written("lines", "one\ntwo\nthree\nfour");
    expect(await splitsOf(file, { format: "lines", splitBytes: 5 })).toEqual(["one\ntwo\n", "three\n", "four", ""]);
  });

  test("together hold every line once, however long lines are and however they are read", async () => {
    const lines = fc.array(fc.string({ maxLength: 12, unit: fc.constantFrom("a", "b", "\n") }), { maxLength: 12 });
    const property = fc.asyncProperty(
      lines,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 7 }),
      async (all, splitBytes, chunk) => {
        const content = all.join("\n");
        const file = { path: "/any", length: content.length, modifiedMs: 1 };
        const fileSystem = inChunks(Buffer.from(content), file, chunk);
        const contents = await splitsOf(file, { format: "lines", splitBytes }, fileSystem);
        expect(contents.join("")).toBe(content);
        const whole = contents.filter((one) => one !== "").slice(0, -1);
        expect(whole.filter((one) => !one.endsWith("\n"))).toEqual([]);
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });

  test("of a compressed file are all of its lines", async () => {
    const file = await written("lines.gz", gzipSync("one\ntwo\n"));
    expect(await splitsOf(file, { format: "lines", splitBytes: 5 })).toEqual(["one\ntwo\n"]);
    const cutOff = await written("cut-off.gz", gzipSync("one\ntwo\n").subarray(0, 20));
    await expect(splitsOf(cutOff, { format: "lines", splitBytes: 5 })).rejects.toMatchObject({
      code: "FEED_FILE_DAMAGED",
      message: `${cutOff.path} is damaged: unexpected end of file`,
    });
  });

  test("of a TFRecord file are its records, unpacked, and end where one is damaged", async () => {
    const record = Buffer.from("01000000000000000175de4161786ee428", "hex");
    const packed = await written("records.gz", gzipSync(record));
    expect(await splitsOf(packed, { format: "tfrecord" })).toEqual([record.toString("latin1")]);
    const damaged = await written("records", Buffer.concat([record, Buffer.from(record).fill("b", 12, 13)]));
    await expect(splitsOf(damaged, { format: "tfrecord" })).rejects.toThrow(
      `${damaged.path} cannot be read: the record at byte 17 has data that does not match its checksum`,
    );
  });

  test("of other formats are just those", async () => {
    const file = await written("bytes", "0123456789");
    expect(await splitsOf(file, { format: "bytes", splitBytes: 4 })).toEqual(["0123", "4567", "89"]);
    expect(await splitsOf(file, { format: "fixed", splitBytes: 4, recordBytes: 3 })).toEqual([
      "012",
      "345",
      "678",
      "9",
    ]);
    expect(await splitsOf(file, { format: "file" })).toEqual(["0123456789"]);
  });

  test("are gone on with where a reading breaks off, and are not where that does not help", async () => {
    const file = await written("broken-off", "0123456789");
    // In the middle of the file.
    const plan = planOf(Listing.of([file]), { format: "bytes", splitBytes: 4 });
    const split = splitAt(plan, 1);
    const pauses: number[] = [];
    const read = (fileSystem: FileSystem) =>
      split === undefined
        ? Promise.reject(new Error("there is no split"))
        : buffer(readSplit({ fileSystem, path: file.path }, split, plan.cut, async (ms) => void pauses.push(ms)));
    expect((await read(breakingOff(1))).toString()).toBe("4567");
    expect(pauses).toEqual([250, 250, 250]);
    await expect(read(breakingOff(1, false))).rejects.toThrow("the DataNode is gone");
    pauses.length = 0;
    await expect(read(breakingOff(0))).rejects.toThrow("the DataNode is gone");
    expect(pauses).toEqual([250, 1_000, 4_000, ...Array(9).fill(15_000)]);
    // The NameNode is away before the file is opened.
    pauses.length = 0;
    let lookUps = 0;
    const away = Object.assign(new LocalFileSystem(), {
      stat: async (place: string) => {
        lookUps += 1;
        if (lookUps < 3) throw new TonyError("the NameNode is away", { code: "UNREACHABLE", retryable: true });
        return await new LocalFileSystem().stat(place);
      },
    });
    expect((await read(away)).toString()).toBe("4567");
    expect(pauses).toEqual([250, 1_000]);
  });

  test("are not read of a file that is gone", async () => {
    const file = { path: path.join(folder, "gone"), length: 9, modifiedMs: 1 };
    const message = `${file.path} is gone since it was looked up for this feed, and is not read`;
    await expect(splitsOf(file, { format: "file" })).rejects.toMatchObject({ code: "FEED_FILE_CHANGED", message });
  });

  test("end with a line that is longer than a program holds", async () => {
    const read = (most: number) =>
      buffer(boundedLines(Readable.from(["a\nbc", "d", "e\nf"].map((chunk) => Buffer.from(chunk))), "/data/a", most));
    expect((await read(3)).toString()).toBe("a\nbcde\nf");
    await expect(read(2)).rejects.toMatchObject({
      code: "FEED_ROW_TOO_LONG",
      message: "/data/a has a line of more than 2 bytes: are its rows lines?",
    });
  });

  test("are not read of a file that has changed", async () => {
    const file = { ...(await written("changed", "0123456789")), length: 9 };
    const message = `${file.path} has changed since it was looked up for this feed, and is not read`;
    await expect(splitsOf(file, { format: "file" })).rejects.toMatchObject({ code: "FEED_FILE_CHANGED", message });
  });
});
