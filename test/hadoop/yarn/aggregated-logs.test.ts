import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { logFolders, readAggregatedLogs } from "../../../src/hadoop/yarn/aggregated-logs.ts";
import { ByteReader } from "../../../src/hadoop/yarn/tfile/byte-reader.ts";
import { readJavaUtf, readVLong } from "../../../src/hadoop/yarn/tfile/primitives.ts";
import { javaUtf, vLong, type WrittenRecord, writeTFile } from "../../support/tfile-writer.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tfile-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Gives the bytes one by one, the hardest way for a reader. */
async function* drip(bytes: Buffer): AsyncGenerator<Buffer> {
  for (const byte of bytes) yield Buffer.from([byte]);
}

const reader = (bytes: Buffer) => new ByteReader(drip(bytes));

describe("TFile's primitives", () => {
  test.each([
    [0, "00"],
    [127, "7f"],
    [-32, "e0"],
    [128, "cc80"],
    [-33, "cbdf"],
    [5119, "dfff"],
    [5120, "a81400"],
    [2_000_000_000, "8377359400"],
  ])("the integer %i is %s", async (value, bytes) => {
    expect(vLong(value).toString("hex")).toBe(bytes);
    expect(await readVLong(reader(Buffer.from(bytes, "hex")))).toBe(value);
  });

  test("every safe integer is read back", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.maxSafeInteger(), fc.integer(), fc.integer({ min: -6000, max: 6000 })),
        async (value) => {
          expect(await readVLong(reader(vLong(value)))).toBe(value);
        },
      ),
    );
  });

  test("every text of Java is read back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (value) => {
        expect(await readJavaUtf(reader(javaUtf(value)))).toBe(value);
      }),
      { numRuns: 50 },
    );
  });
});

const record = (container: string, logs: Record<string, string>, chunkBytes: number): WrittenRecord => {
  const value = Buffer.concat(
    Object.entries(logs).flatMap(([name, content]) => [
      javaUtf(name),
      javaUtf(String(Buffer.byteLength(content))),
      Buffer.from(content),
    ]),
  );
  const chunks: Buffer[] = [];
  for (let at = 0; at < value.length; at += chunkBytes) chunks.push(value.subarray(at, at + chunkBytes));
  return { key: javaUtf(container), chunks };
};
const reserved = ["VERSION", "APPLICATION_OWNER", "APPLICATION_ACL"].map((name) => record(name, { x: "y" }, 100));

async function read(bytes: Buffer, wanted?: (container: string) => boolean): Promise<[string, string, string][]> {
  const path = join(folder, "127.0.0.1_8041");
  await writeFile(path, bytes);
  const file = {
    fileSystem: new LocalFileSystem(),
    path,
    node: "127.0.0.1_8041",
    lengthBytes: bytes.length,
    modificationTimeMs: 0,
  };
  const logs: [string, string, string][] = [];
  for await (const log of readAggregatedLogs(file, wanted))
    logs.push([log.containerId, log.name, await text(log.content)]);
  return logs;
}

describe("a node's aggregated logs", () => {
  const one = record("container_1", { stdout: "hällo\n", stderr: "", "am.log": "x".repeat(5000) }, 7);
  const two = record("container_2", { stdout: "two" }, 1_000_000);

  test.each(["none", "gz"] as const)(
    "are read whatever the blocks and chunks, compressed by %s",
    async (compression) => {
      const expected = [
        ["container_1", "stdout", "hällo\n"],
        ["container_1", "stderr", ""],
        ["container_1", "am.log", "x".repeat(5000)],
        ["container_2", "stdout", "two"],
      ];
      expect(await read(writeTFile([[...reserved, one, two]], compression))).toEqual(expected);
      expect(await read(writeTFile([reserved, [one], [two]], compression))).toEqual(expected);
    },
  );

  test("of one container are found among others", async () => {
    const only = await read(writeTFile([[one, two]]), (container) => container === "container_2");
    expect(only).toEqual([["container_2", "stdout", "two"]]);
  });

  test("may be none", async () => {
    expect(await read(writeTFile([reserved]))).toEqual([]);
    expect(await read(writeTFile([]))).toEqual([]);
  });

  test("that are damaged are an error that names the file, never a hang or a crash", async () => {
    const whole = writeTFile([[one], [two]], "gz");
    await expect(read(Buffer.from("short"))).rejects.toThrow(/127\.0\.0\.1_8041 is too short for a TFile/);
    await expect(read(Buffer.alloc(1000))).rejects.toThrow(/127\.0\.0\.1_8041 is not a TFile/);
    await expect(read(writeTFile([[one]], "lzo"))).rejects.toThrow(/compressed by lzo/);
    const changes = [0x01, 0x80, 0xff];
    const refusals: unknown[] = [];
    for (let position = 0; position < whole.length; position += 1) {
      const damaged = Buffer.from(whole);
      damaged[position] = (damaged[position] ?? 0) ^ (changes[position % changes.length] ?? 0);
      await read(damaged).catch((error: unknown) => refusals.push(error));
    }
    // Some bytes do not matter; what must not come is another kind of failure.
    expect(refusals.length).toBeGreaterThan(whole.length / 2);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({
        code: "LOG_FILE_MALFORMED",
        message: expect.stringContaining("127.0.0.1_8041"),
      });
    }
  });
});

describe("the folders of an application's logs", () => {
  const configure = (values: Record<string, string>) => new Configuration().withValues(values);

  test("are the buckets of today and both older layouts", () => {
    expect(logFolders(configure({}), "ada", "application_1795305600000_10042")).toEqual([
      "/tmp/logs/ada/bucket-logs-tfile/0042/application_1795305600000_10042",
      "/tmp/logs/ada/logs-tfile/application_1795305600000_10042",
      "/tmp/logs/ada/logs/application_1795305600000_10042",
    ]);
  });

  test("follow the site's directory and suffix", () => {
    const values = {
      "yarn.nodemanager.remote-app-log-dir": "hdfs://ns/app-logs/",
      "yarn.nodemanager.remote-app-log-dir-suffix": "yarn",
    };
    expect(logFolders(configure(values), "ada", "application_1_0007")[0]).toBe(
      "hdfs://ns/app-logs/ada/bucket-yarn-tfile/0007/application_1_0007",
    );
  });
});
