import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import {
  findAggregatedLogs,
  logFolders,
  logFormats,
  readAggregatedLogs,
} from "../../../src/hadoop/yarn/aggregated-logs.ts";
import { ByteReader, readJavaUtf, readVLong } from "../../../src/hadoop/yarn/log-files/byte-reader.ts";
import { javaUtf, vLong, type WrittenRecord, writeTFile } from "../../support/tfile-writer.ts";

const application = "application_1795305600000_0007";
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

async function read(
  bytes: Buffer,
  wanted?: (container: string) => boolean,
  found: (container: string) => void = () => undefined,
): Promise<[string, string, string][]> {
  const path = join(folder, application, "127.0.0.1_8041");
  await mkdir(join(folder, application), { recursive: true });
  await writeFile(path, bytes);
  const file = {
    fileSystem: new LocalFileSystem(),
    path,
    node: "127.0.0.1_8041",
    lengthBytes: bytes.length,
    modificationTimeMs: 0,
  };
  const logs: [string, string, string][] = [];
  for await (const log of readAggregatedLogs(file, wanted)) {
    logs.push([log.containerId, log.name, await text(log.content)]);
    found(log.containerId);
  }
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

  test.each([
    ["is passed over unread where a block is another container's alone", [[one], [two]], "container_2"],
    ["is not read on to where nothing follows in its block", [[two, one]], "container_2"],
  ] as const)("what is not wanted %s", async (_what, blocks, wanted) => {
    const whole = writeTFile(blocks);
    // The end of what is not wanted; the number of bytes that follow in its chunk.
    const at = whole.lastIndexOf("x".repeat(7)) - 1;
    whole[at] = 0x7f;
    await expect(read(whole)).rejects.toThrow("is damaged");
    const expected = [["container_2", "stdout", "two"]];
    expect(await read(whole, (container) => container === wanted)).toEqual(expected);
  });

  test("is not read on once the caller has seen enough of a container", async () => {
    const seen = new Set<string>();
    const logs = await read(
      writeTFile([[one], [two]], "gz"),
      (container) => !seen.has(container),
      (container) => seen.add(container),
    );
    expect(logs.map(([container, name]) => `${container} ${name}`)).toEqual([
      "container_1 stdout",
      "container_2 stdout",
    ]);
  });

  test("may have no index of what its blocks hold, as a file of another writer", async () => {
    expect(await read(writeTFile([[one], [two]], "gz", false), (container) => container === "container_2")).toEqual([
      ["container_2", "stdout", "two"],
    ]);
  });

  test("may be none", async () => {
    expect(await read(writeTFile([reserved]))).toEqual([]);
    expect(await read(writeTFile([]))).toEqual([]);
  });

  test("that are damaged are an error that names the file, never a hang or a crash", async () => {
    const whole = writeTFile([[one], [two]], "gz");
    for (const none of [Buffer.from("short"), Buffer.alloc(1000)])
      await expect(read(none)).rejects.toThrow(/127\.0\.0\.1_8041 is neither a TFile nor an indexed file/);
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

const fixture = (name: string) => readFile(join("test/fixtures/indexed-logs", name));
const numbers = Array.from({ length: 300 }, (_, index) => `${index + 1}\n`).join("");

/** What Hadoop's own class wrote. */
describe("an indexed file", () => {
  const [first, second] = ["container_1795305600000_0007_01_000001", "container_1795305600000_0007_01_000002"];

  test.each(["plain", "gz"])("has each container's logs by their names: %s", async (name) => {
    expect(await read(await fixture(name))).toEqual([
      [first, "am.log", numbers],
      [first, "stderr", ""],
      [first, "stdout", "out 1 upload 1 hällo\n"],
      [second, "am.log", numbers],
      [second, "stderr", ""],
      [second, "stdout", "out 2 upload 1 hällo\n"],
    ]);
  });

  test("has one upload after the other", async () => {
    const logs = await read(await fixture("gz-two-uploads"), (container) => container === second);
    expect(logs.map(([, name, content]) => [name, content.slice(0, 14)])).toEqual([
      ["am.log", "1\n2\n3\n4\n5\n6\n7\n"],
      ["stderr", ""],
      ["stdout.00000000000000000000", "out 2 upload 1"],
      ["am.log", "1\n2\n3\n4\n5\n6\n7\n"],
      ["stderr", ""],
      ["stdout", "out 2 upload 2"],
    ]);
  });

  test("may be marked by a UUID, as the class first did", async () => {
    const whole = await fixture("plain");
    const marked = Buffer.concat([whole.subarray(0, -32), Buffer.from("0c2fd1f8-6d39-4f7f-b6a5-0c9f3c1b2a3d")]);
    expect((await read(marked)).map(([, name]) => name)).toEqual([
      "am.log",
      "stderr",
      "stdout",
      "am.log",
      "stderr",
      "stdout",
    ]);
  });

  test("of another application is none", async () => {
    const whole = Buffer.from(await fixture("plain"));
    whole.set([whole.readUInt8(whole.length - 1) ^ 1], whole.length - 1);
    whole.set([whole.readUInt8(0) ^ 1], 0);
    await expect(read(whole)).rejects.toMatchObject({ code: "LOG_FILE_MALFORMED" });
  });

  test("whose first upload goes on has nothing yet", async () => {
    expect(await read((await fixture("plain")).subarray(0, 1500))).toEqual([]);
    expect(await read((await fixture("plain")).subarray(0, 32))).toEqual([]);
  });

  test("that is damaged is an error that names the file, never a hang or a crash", async () => {
    const whole = await fixture("gz");
    const refusals: unknown[] = [];
    for (let position = 1000; position < whole.length - 32; position += 5) {
      const damaged = Buffer.from(whole);
      damaged[position] = (damaged[position] ?? 0) ^ ([0x01, 0x80, 0xff][position % 3] ?? 0);
      await read(damaged).catch((error: unknown) => refusals.push(error));
    }
    expect(refusals.length).toBeGreaterThan(100);
    for (const refusal of refusals)
      expect(refusal).toMatchObject({ code: "LOG_FILE_MALFORMED", message: expect.stringContaining("127.0.0.1_8041") });
  });
});

describe("the logs that nodes have uploaded", () => {
  const bucket = (format: string) => join(folder, "site/ada", `bucket-logs-${format}/0007`, application);
  const find = () => {
    const configuration = new Configuration().withValues({
      "fs.defaultFS": "file:///",
      "yarn.nodemanager.remote-app-log-dir": join(folder, "site"),
    });
    const fileSystems = new FileSystems({ configuration, credentials: simpleCredentials({ name: "ada" }) });
    return findAggregatedLogs(fileSystems, configuration, "ada", application);
  };
  const names = async () => {
    const logs: string[] = [];
    for (const file of await find())
      for await (const { containerId, name } of readAggregatedLogs(file))
        logs.push(`${file.node} ${containerId} ${name}`);
    return logs;
  };

  test("may be TFiles of some nodes and indexed files of others", async () => {
    for (const format of ["tfile", "ifile"]) await mkdir(bucket(format), { recursive: true });
    await writeFile(join(bucket("tfile"), "n2_8041"), writeTFile([[record("container_2", { stdout: "two" }, 7)]]));
    await writeFile(join(bucket("tfile"), "n3_8041.tmp"), "an upload that goes on");
    await writeFile(join(bucket("ifile"), "n1_8041"), (await fixture("plain")).subarray());
    expect((await names()).map((line) => line.replace(/ container_\S+/, ""))).toEqual([
      "n2_8041 stdout",
      ...["am.log", "stderr", "stdout", "am.log", "stderr", "stdout"].map((name) => `n1_8041 ${name}`),
    ]);
  });

  /** @param before how much of the file was complete before the upload */
  const upload = (name: string, before: number) => {
    const [length, complete] = [Buffer.alloc(4), Buffer.alloc(8)];
    length.writeUInt32BE(name.length);
    complete.writeBigInt64BE(BigInt(before));
    return Buffer.concat([length, Buffer.from(name), complete]);
  };

  test("are read as far as an upload that goes on has left them complete", async () => {
    const whole = await fixture("gz-two-uploads");
    const mark = whole.subarray(-32);
    const complete = whole.indexOf(mark, 32) + mark.length;
    await writeFile(join(bucket("ifile"), "n1_8041"), whole);
    const checksum = join(bucket("ifile"), "n1_8041-checksum");

    await writeFile(checksum, upload("n1_8041", complete));
    expect((await names()).filter((line) => line.includes("n1_8041")).map((line) => line.split(" ")[2])).toEqual([
      ...["am.log", "stderr", "stdout.00000000000000000000"],
      ...["am.log", "stderr", "stdout.00000000000000000000"],
    ]);
    // As the class first wrote it: the length alone.
    await writeFile(checksum, upload("", complete).subarray(4));
    expect((await names()).filter((line) => line.includes("n1_8041"))).toHaveLength(6);

    for (const begun of [upload("n1_8041", 0), Buffer.alloc(0), upload("n1_8041", 0).subarray(0, 9)]) {
      await writeFile(checksum, begun);
      expect((await names()).filter((line) => line.includes("n1_8041"))).toEqual([]);
    }
  });
});

describe("the formats of a site", () => {
  const className = (name: string) => `org.apache.hadoop.yarn.logaggregation.filecontroller.x.${name}`;

  test("are Hadoop's TFile unless it says others", () => {
    expect(logFormats(new Configuration())).toEqual([expect.objectContaining({ name: "TFile", kind: "TFile" })]);
  });

  test("are told by their classes, whatever their names", () => {
    const configuration = new Configuration().withValues({
      "yarn.log-aggregation.file-formats": "Indexed, TFile, Ours",
      "yarn.log-aggregation.file-controller.Indexed.class": className("LogAggregationIndexedFileController"),
      "yarn.log-aggregation.file-controller.Ours.class": "com.example.OurController",
    });
    expect(logFormats(configuration).map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
      "Indexed: indexed file",
      "TFile: TFile",
      "Ours: unknown",
    ]);
    expect(logFolders(configuration, "ada", "application_1_0007").slice(0, 2)).toEqual([
      "/tmp/logs/ada/bucket-logs-indexed/0007/application_1_0007",
      "/tmp/logs/ada/logs-indexed/application_1_0007",
    ]);
  });
});

describe("the folders of an application's logs", () => {
  const configure = (values: Record<string, string>) => new Configuration().withValues(values);

  test("are the buckets of today and both older layouts, of each format that Hadoop has", () => {
    expect(logFolders(configure({}), "ada", "application_1795305600000_10042")).toEqual([
      "/tmp/logs/ada/bucket-logs-tfile/0042/application_1795305600000_10042",
      "/tmp/logs/ada/logs-tfile/application_1795305600000_10042",
      "/tmp/logs/ada/bucket-logs-ifile/0042/application_1795305600000_10042",
      "/tmp/logs/ada/logs-ifile/application_1795305600000_10042",
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

  test("follow what the site says of one format", () => {
    const values = {
      "yarn.log-aggregation.IFile.remote-app-log-dir": "/indexed",
      "yarn.log-aggregation.IFile.remote-app-log-dir-suffix": "ours",
    };
    expect(logFolders(configure(values), "ada", "application_1_0007")).toContain(
      "/indexed/ada/bucket-ours/0007/application_1_0007",
    );
  });
});
