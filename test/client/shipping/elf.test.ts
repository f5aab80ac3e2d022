import { mkdtemp, open, readdir, readlink, realpath, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readElf } from "../../../client/shipping/elf.ts";
import { chooseRuntime, provideRuntime, type RuntimeChoice, runtimeProblem } from "../../../client/shipping/runtime.ts";
import { elfHeader } from "../../support/elf-header.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "elf-"));
});
afterAll(() => rm(folder, { recursive: true }));

const fits = {
  architecture: "x64",
  interpreter: "/lib64/ld-linux-x86-64.so.2",
  libraries: ["libc.so.6"],
  symbolVersions: ["GLIBC_2.28", "GLIBC_2.2.5", "GLIBCXX_3.4.21"],
};

/** A segment of an executable. */
interface Part {
  /** As in the System V ABI: 1 is loaded, 2 is the dynamic section, 3 names the loader. */
  readonly type: number;
  readonly address?: number;
  readonly content: Buffer;
  /** If not the content's. */
  readonly fileBytes?: number;
}

/** An executable of those segments, each at the next full 1,000 bytes. */
function executable(parts: readonly Part[], entryBytes = 56): Buffer {
  const file = Buffer.alloc(1_000 * (parts.length + 2));
  elfHeader("x64").copy(file);
  file.writeUInt16LE(entryBytes, 54);
  file.writeUInt16LE(parts.length, 56);
  for (const [index, { type, address = 0, content, fileBytes = content.length }] of parts.entries()) {
    const [at, offset] = [64 + index * 56, 1_000 * (index + 1)];
    content.copy(file, offset);
    file.writeUInt32LE(type, at);
    for (const [place, value] of [
      [8, offset],
      [16, address],
      [32, fileBytes],
    ] as const)
      file.writeBigUInt64LE(BigInt(value), at + place);
  }
  return file;
}

/** Entries of a dynamic section. */
function dynamic(...entries: readonly (readonly [tag: number, value: number])[]): Buffer {
  const numbers = entries.flat().map(BigInt);
  const bytes = Buffer.alloc(8 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeBigInt64LE(number, 8 * index);
  return bytes;
}
const tags = { end: 0, needed: 1, strings: 5, stringBytes: 10, versionNeeds: 0x6ffffffe, versionNeedCount: 0x6fffffff };

describe("an executable's requirements", () => {
  const read = async (content: Buffer) => {
    const file = join(folder, "made");
    await writeFile(file, content);
    return await readElf(file);
  };

  test("are those of its dynamic section up to the end of it, wherever the tables are loaded", async () => {
    const strings = Buffer.from("\0libc.so.6\0libm.so.6\0GLIBC_2.28\0GLIBC_2.2.5\0libold.so\0");
    const at = (text: string) => strings.indexOf(text);
    // Of libc two versions, of libm one; neither record follows right after the one before.
    const versions = Buffer.alloc(200);
    const write = (offset: number, ...[count, first, next]: readonly [number, number, number]) => {
      versions.writeUInt16LE(count, offset + 2);
      versions.writeUInt32LE(first, offset + 8);
      versions.writeUInt32LE(next, offset + 12);
    };
    const name = (offset: number, text: string, next: number) => {
      versions.writeUInt32LE(at(text), offset + 8);
      versions.writeUInt32LE(next, offset + 12);
    };
    write(20, 2, 40, 100);
    name(60, "GLIBC_2.28", 20);
    name(80, "GLIBC_2.2.5", 0);
    write(120, 1, 24, 0);
    name(144, "GLIBC_2.28", 0);
    const section = dynamic(
      [tags.needed, at("libc.so.6")],
      [tags.needed, at("libm.so.6")],
      [tags.strings, 0x10000],
      [tags.stringBytes, strings.length],
      [tags.versionNeeds, 0x10000 + strings.length + 20],
      [tags.versionNeedCount, 2],
      [tags.end, 0],
      [tags.needed, at("libold.so")],
    );
    const parts = [
      { type: 1, address: 0x30000, content: Buffer.from("loaded elsewhere") },
      { type: 4, address: 0x10000, content: Buffer.from("a note, which is not loaded"), fileBytes: 500 },
      { type: 1, address: 0x10000, content: strings },
      { type: 1, address: 0x10000 + strings.length, content: versions },
      { type: 2, content: section },
      { type: 3, content: Buffer.from("/lib64/ld-linux-x86-64.so.2") },
    ];
    expect(await read(executable(parts))).toEqual({
      architecture: "x64",
      interpreter: "/lib64/ld-linux-x86-64.so.2",
      libraries: ["libc.so.6", "libm.so.6"],
      symbolVersions: ["GLIBC_2.28", "GLIBC_2.2.5", "GLIBC_2.28"],
    });
  });

  test.each([
    ["with a dynamic section that names none", [{ type: 2, content: Buffer.alloc(24, dynamic([tags.strings, 0])) }]],
    ["without a dynamic section", []],
  ])("are its architecture alone of one %s", async (_, parts) => {
    expect(await read(executable(parts))).toEqual({ architecture: "x64", libraries: [], symbolVersions: [] });
  });

  test.each([4, 36])("are none where its segments are described in %i bytes: that is damaged", async (entryBytes) => {
    expect(await read(executable([{ type: 1, content: Buffer.alloc(8) }], entryBytes))).toBeUndefined();
  });

  test("are none where a table is longer than any, which would take as much memory; the longest is read", async () => {
    const file = join(folder, "long");
    const longestBytes = 16 * 1024 * 1024;
    for (const [fileBytes, expected] of [
      [longestBytes, "x64"],
      [longestBytes + 1, undefined],
    ] as const) {
      await writeFile(file, executable([{ type: 3, content: Buffer.from("/lib/ld.so\0"), fileBytes }]));
      await truncate(file, longestBytes + 10_000);
      expect((await readElf(file))?.architecture).toBe(expected);
    }
  });

  test("are not known of what cannot be read; nothing stays open", async () => {
    await expect(readElf(folder)).rejects.toMatchObject({ code: "EISDIR" });
    await read(executable([]));
    const open = await Promise.all(
      (await readdir("/proc/self/fd")).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => "")),
    );
    expect(open.filter((file) => file.startsWith(folder))).toEqual([]);
  });

  test("are read from the Node that runs this test", async () => {
    const elf = await readElf(process.execPath);
    expect(elf?.architecture).toBe(process.arch);
    expect(elf?.libraries).toContain("libc.so.6");
    expect(elf?.symbolVersions.some((version) => /^GLIBC_2\.\d+$/.test(version))).toBe(true);
    expect(elf?.interpreter).toMatch(/ld-/);
  });

  test("are none of a text, an empty file, or an executable cut short or overwritten", async () => {
    const file = join(folder, "x");
    const start = Buffer.alloc(4096);
    const node = await open(process.execPath);
    await node.read(start, 0, start.length, 0);
    await node.close();
    for (const content of [Buffer.from("#!/bin/sh\nexec node\n"), Buffer.alloc(0), start.subarray(0, 70), start]) {
      await writeFile(file, content);
      expect(await readElf(file)).toBeUndefined();
    }
  });
});

describe("a runtime", () => {
  test("that nodes can load has no problem", () => {
    expect(runtimeProblem(fits, "x64")).toBeUndefined();
    for (const symbolVersions of [["GLIBC_2.17", "GLIBC_2.2.5"], ["GLIBC_1.40"], ["GLIBCXX_3.4.21"], []])
      expect(runtimeProblem({ ...fits, symbolVersions }, "x64")).toBeUndefined();
  });

  test.each([
    ["no executable", undefined, "is not a 64-bit Linux executable"],
    ["another architecture", { ...fits, architecture: "arm64" }, "is built for arm64, the nodes are x64"],
    ["musl", { ...fits, interpreter: "/lib/ld-musl-x86_64.so.1" }, "musl"],
    ["a starter of a shared library", { ...fits, libraries: ["libnode.so.115"] }, "only a starter for libnode.so.115"],
    ["V8 in a shared library", { ...fits, libraries: ["libc.so.6", "libv8.so"] }, "only a starter for libv8.so"],
    ["a newer C library", { ...fits, symbolVersions: ["GLIBC_2.4", "GLIBC_2.34"] }, "needs glibc 2.34"],
    [
      "a hardly newer one",
      { ...fits, symbolVersions: ["GLIBC_2.29"] },
      "needs glibc 2.29; nodes may have as little as 2.28",
    ],
    ["one of the next generation", { ...fits, symbolVersions: ["GLIBC_2.2.5", "GLIBC_3.1"] }, "needs glibc 3.1"],
  ])("with %s is refused", (_, elf, problem) => {
    expect(runtimeProblem(elf, "x64")).toContain(problem);
  });

  test("is the path or URL that is set", async () => {
    expect(await chooseRuntime({ setting: "hdfs://ns/node", running: "/none" })).toEqual({
      kind: "stored",
      url: "hdfs://ns/node",
    });
    const path = await realpath(process.execPath);
    const link = join(folder, "link");
    await symlink(path, link);
    for (const setting of [process.execPath, `file://${process.execPath}`, link])
      expect(await chooseRuntime({ setting, running: "/none" })).toEqual({ kind: "send", path });
    expect(await chooseRuntime({ running: process.execPath })).toEqual({ kind: "send", path });
  });

  test.each([
    [{ kind: "send", path: "/opt/node" } as const, "/opt/node"],
    [{ kind: "stored", url: "hdfs://ns/node" } as const, "hdfs://ns/node"],
  ])("is one file for all users where it is the same for all nodes: %j", (choice, source) => {
    expect(provideRuntime(choice)).toEqual({
      items: [{ link: "node", source, as: "file", shared: true }],
      node: "node",
    });
  });

  test("that the nodes have is used where it is: nothing is shipped", async () => {
    const choice = await chooseRuntime({ setting: "local:/opt/node/bin/node", running: "/none" });
    expect(choice).toEqual({ kind: "installed", path: "/opt/node/bin/node" });
    expect(provideRuntime(choice)).toEqual({ items: [], node: "/opt/node/bin/node" });
    await expect(chooseRuntime({ setting: "local://opt/node", running: "/none" })).rejects.toThrow(
      /local:\/\/opt\/node names a host: write local:\/path/,
    );
  });

  test("is another one for each architecture that has its own: all of them are shipped, and the container picks", async () => {
    const byArchitecture = { x64: { value: "hdfs://ns/x64", at: "" }, arm64: { value: "hdfs://ns/arm", at: "" } };
    const own = await chooseRuntime({
      setting: "hdfs://ns/node",
      byArchitecture: { arm64: byArchitecture.arm64 },
      running: "/none",
      architecture: "x64",
    });
    const files = (one: RuntimeChoice) => provideRuntime(one).items.map(({ link, source }) => [link, source]);
    expect(files(own)).toEqual([
      ["node-x86_64", "hdfs://ns/node"],
      ["node-aarch64", "hdfs://ns/arm"],
    ]);
    expect(provideRuntime(own).node).toBe("node-{machine}");
    for (const architecture of ["x64", "riscv64"])
      expect(files(await chooseRuntime({ byArchitecture, running: "/none", architecture }))).toEqual([
        ["node-x86_64", "hdfs://ns/x64"],
        ["node-aarch64", "hdfs://ns/arm"],
      ]);
  });

  test("for one architecture is refused when it is of another, or installed, and names its key and place", async () => {
    const chosen = (value: string) =>
      chooseRuntime({
        byArchitecture: { arm64: { value, at: "job.xml:3" } },
        running: process.execPath,
        architecture: process.arch,
      });
    const wrong = join(folder, "wrong");
    await writeFile(wrong, elfHeader("x64"));
    await expect(chosen(wrong)).rejects.toThrow(
      `job.xml:3: tony.node.binary.arm64: ${wrong} is built for x64, the nodes are arm64`,
    );
    await expect(chosen("local:/opt/node")).rejects.toThrow(/^job\.xml:3: tony\.node\.binary\.arm64 names a Node that/);
    const installed = (writtenAt?: string) =>
      chooseRuntime({
        byArchitecture: { arm64: { value: "hdfs://ns/arm", at: "" } },
        ...{ setting: "local:/opt/node", writtenAt, running: "/none", architecture: "x64" },
      });
    await expect(installed()).rejects.toThrow(/^tony\.node\.binary names a Node that nodes have installed/);
    await expect(installed("job.xml:2")).rejects.toThrow(/^job\.xml:2: tony\.node\.binary names a Node that/);
  });

  test("that is missing or unfit names the key that mends it", async () => {
    const chosen = (setting: string, writtenAt?: string) => chooseRuntime({ setting, writtenAt, running: "" });
    await expect(chosen("/no/node")).rejects.toMatchObject({
      code: "RUNTIME_UNFIT",
      message: expect.stringMatching(/^\/no\/node does not exist\. Set tony\.node\.binary/),
      cause: expect.objectContaining({ code: "ENOENT" }),
    });
    await expect(chosen("/no/node", "job.xml:2")).rejects.toThrow(
      /^job\.xml:2: tony\.node\.binary: \/no\/node does not/,
    );
    await expect(chosen("/etc/passwd/node")).rejects.toThrow(/^\/etc\/passwd\/node does not exist\. Set/);
    await expect(chosen(folder)).rejects.toThrow(`${folder} is not a file. Set`);
    const circle = join(folder, "circle");
    await symlink(circle, circle);
    await expect(chosen(circle)).rejects.toThrow(`${circle} cannot be read: ELOOP`);
    const script = join(folder, "node");
    await writeFile(script, "#!/bin/sh\n");
    await expect(chooseRuntime({ running: script })).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringContaining("tony.node.binary"),
    });
  });
});
