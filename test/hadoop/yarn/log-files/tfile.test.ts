import { writeFileSync } from "node:fs";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "@jest/globals";
import type { OpenOptions } from "../../../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../../../src/hadoop/hdfs/local.ts";
import { isTFile, readTFile, tfileTailBytes } from "../../../../src/hadoop/yarn/log-files/tfile.ts";
import { tfileLogs } from "../../../../src/hadoop/yarn/log-files/tfile-logs.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { javaUtf, vLong, type WrittenRecord, writeTFile } from "../../../support/tfile-writer.ts";

const folder = temporaryFolder();

/** Counts the streams that are open. */
class Counting extends LocalFileSystem {
  opened = 0;
  closed = 0;

  override async open(file: string, options: OpenOptions = {}) {
    this.opened += 1;
    const stream = await super.open(file, options);
    return stream.once("close", () => {
      this.closed += 1;
    });
  }
}

function stored(bytes: Buffer) {
  const file = path.join(folder.path, "n1_8041");
  writeFileSync(file, bytes);
  const fileSystem = new Counting();
  return { fileSystem, path: file, node: "n1_8041", lengthBytes: bytes.length, modificationTimeMs: 0 };
}

const record = (key: string, value: string): WrittenRecord => ({ key: Buffer.from(key), chunks: [Buffer.from(value)] });

async function read(bytes: Buffer, wanted?: (key: Buffer) => boolean): Promise<string[]> {
  const records: string[] = [];
  for await (const { key, value } of readTFile(stored(bytes), bytes.subarray(-100), wanted))
    records.push(`${key} ${await value.read(1)}`);
  return records;
}

const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => record(name, `${name.toUpperCase()} and more`));
const all = [a, b, c, d].filter((one) => one !== undefined);

describe("the records of a TFile", () => {
  test.each(["none", "gz"] as const)("are read in order, however little of each is read: %s", async (compression) => {
    expect(await read(writeTFile([all.slice(0, 2), all.slice(2)], compression))).toEqual(["a A", "b B", "c C", "d D"]);
  });

  test("that are not wanted are passed over where a block holds one of them alone", async () => {
    const wanted = (key: Buffer) => String(key) === "b";
    expect(await read(writeTFile(all.map((one) => [one])), wanted)).toEqual(["b B"]);
    expect(await read(writeTFile([all.slice(0, 1), all.slice(1)]), wanted)).toEqual(["b B", "c C", "d D"]);
  });

  test("are read out of streams that are closed again, also when the reader leaves, or the index is damaged", async () => {
    const bytes = writeTFile([all.slice(0, 2), all.slice(2)], "gz");
    const { fileSystem, ...file } = stored(bytes);
    for await (const { value } of readTFile({ ...file, fileSystem }, bytes.subarray(-tfileTailBytes))) {
      await value.skipRest();
      break;
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect([fileSystem.opened, fileSystem.closed]).toEqual([4, 4]);

    bytes.writeBigUInt64BE(0n, bytes.length - tfileTailBytes);
    const damaged = stored(bytes);
    await expect(readTFile(damaged, bytes.subarray(-tfileTailBytes)).next()).rejects.toThrow();
    await new Promise((resolve) => setImmediate(resolve));
    expect([damaged.fileSystem.opened, damaged.fileSystem.closed]).toEqual([1, 1]);
  });
});

describe("a TFile", () => {
  const whole = writeTFile([all]);

  test("is told by its last bytes", () => {
    expect(isTFile(whole)).toBe(true);
    expect(isTFile(whole.subarray(-28))).toBe(true);
    expect(isTFile(whole.subarray(-27))).toBe(false);
    expect(isTFile(whole.subarray(0, -1))).toBe(false);
  });

  const changed = (change: (tail: Buffer) => void) => {
    const bytes = Buffer.from(whole);
    change(bytes.subarray(-tfileTailBytes));
    return bytes;
  };
  const renamed = (name: string) => {
    const bytes = Buffer.from(whole);
    bytes.write(name, bytes.indexOf("data:BCFile.index"));
    return bytes;
  };

  test("of another minor version is read", async () => {
    expect(await read(changed((tail) => tail.writeUInt16BE(9, 10)))).toHaveLength(4);
  });

  test.each([
    ["of another version", () => changed((tail) => tail.writeUInt16BE(2, 8)), "has version 2 of TFile, not 1"],
    [
      "whose index lies behind it",
      () => changed((tail) => tail.writeBigUInt64BE(BigInt(whole.length - 27), 0)),
      "its index lies outside of it",
    ],
    ["without an index of its data", () => renamed("data:XXFile.index"), "it has no index of its data"],
  ])("%s is an error that names it", async (_what, make, said) => {
    const named = `${path.join(folder.path, "n1_8041")} `;
    await expect(read(make())).rejects.toMatchObject({
      code: "LOG_FILE_MALFORMED",
      message: expect.stringMatching(new RegExp(`^${named}.*${said}$`)),
    });
  });

  /** A file of no blocks but the index that is given. */
  const indexed = (index: Buffer) => {
    const tail = Buffer.concat([Buffer.alloc(8), Buffer.of(0, 1, 0, 0), whole.subarray(-16)]);
    return Buffer.concat([index, tail]);
  };
  const region = (offset: number, storedBytes: number) =>
    Buffer.concat([vLong(1), vLong(1), Buffer.from("x"), vLong(0), vLong(offset), vLong(storedBytes), vLong(0)]);

  test.each([
    ["101 lists", vLong(101), "an index of 101 blocks is not possible: the most are 100"],
    ["a block before it", region(-1, 1), "a block of 1 bytes at -1 lies outside of it"],
    ["a block of fewer bytes than none", region(0, -1), "a block of -1 bytes at 0 lies outside of it"],
    ["a block behind it", region(30, 10), "a block of 10 bytes at 30 lies outside of it"],
  ])("whose index has %s is an error", async (_what, index, said) => {
    await expect(read(indexed(index))).rejects.toMatchObject({ code: "LOG_FILE_MALFORMED", message: said });
  });
});

describe("a container's logs in a TFile", () => {
  const logs = (length: string) =>
    writeTFile([
      [
        {
          key: javaUtf("container_1"),
          chunks: [Buffer.concat([javaUtf("out"), javaUtf(length), Buffer.from("12345")])],
        },
      ],
    ]);
  const contents = async (bytes: Buffer) => {
    const read: unknown[] = [];
    for await (const { content, ...log } of tfileLogs(stored(bytes), bytes.subarray(-tfileTailBytes), () => true))
      read.push([log, String(await buffer(content))]);
    return read;
  };

  test("have their names, lengths and node", async () => {
    expect(await contents(logs("5"))).toEqual([
      [{ containerId: "container_1", name: "out", lengthBytes: 5, node: "n1_8041" }, "12345"],
    ]);
  });

  test.each(["", "-5", "5 ", "0x5", "9007199254740993"])('have no length of "%s"', async (length) => {
    await expect(contents(logs(length))).rejects.toThrow(`: "${length}" is not a valid length of out of container_1`);
  });

  test("are an error where they are shorter than they say", async () => {
    await expect(contents(logs("6"))).rejects.toThrow(/n1_8041 is damaged: the data ends 1 bytes too early$/);
  });
});
