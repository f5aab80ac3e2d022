import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
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

describe("an executable's requirements", () => {
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
    expect(runtimeProblem({ ...fits, symbolVersions: ["GLIBC_2.17", "GLIBC_2.2.5"] }, "x64")).toBeUndefined();
  });

  test.each([
    ["no executable", undefined, "is not a 64-bit Linux executable"],
    ["another architecture", { ...fits, architecture: "arm64" }, "is built for arm64, the nodes are x64"],
    ["musl", { ...fits, interpreter: "/lib/ld-musl-x86_64.so.1" }, "musl"],
    ["a starter of a shared library", { ...fits, libraries: ["libnode.so.115"] }, "only a starter for libnode.so.115"],
    ["a newer C library", { ...fits, symbolVersions: ["GLIBC_2.4", "GLIBC_2.34"] }, "needs glibc 2.34"],
  ])("with %s is refused", (_, elf, problem) => {
    expect(runtimeProblem(elf, "x64")).toContain(problem);
  });

  test("is the path or URL that is set", async () => {
    expect(await chooseRuntime({ setting: "hdfs://ns/node", running: "/none" })).toEqual({
      kind: "stored",
      url: "hdfs://ns/node",
    });
    expect(await chooseRuntime({ setting: process.execPath, running: "/none" })).toMatchObject({ kind: "send" });
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
    expect(files(await chooseRuntime({ byArchitecture, running: "/none" }))).toEqual([
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
  });

  test("that is missing or unfit names the key that mends it", async () => {
    await expect(chooseRuntime({ setting: "/no/node", running: "" })).rejects.toThrow(
      /\/no\/node does not exist\. Set tony\.node\.binary/,
    );
    const script = join(folder, "node");
    await writeFile(script, "#!/bin/sh\n");
    await expect(chooseRuntime({ running: script })).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringContaining("tony.node.binary"),
    });
  });
});
