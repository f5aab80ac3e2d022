import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { checkTargets, fetchFiles } from "../../../client/results/fetch-files.ts";
import type { LeftFile } from "../../../client/results/left-files.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { OpenOptions } from "../../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "tony-fetch-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Codes = ConstructorParameters<typeof FileSystemError>[1]["code"];

/** A file system whose files hold their own names, and that fails so often before it answers. */
class Trying extends LocalFileSystem {
  readonly opened: string[] = [];
  readonly #failures: Map<string, Codes[]>;

  constructor(failures: Readonly<Record<string, readonly Codes[]>> = {}) {
    super();
    this.#failures = new Map(Object.entries(failures).map(([name, codes]) => [name, [...codes]]));
  }

  override async open(source: string): Promise<Readable> {
    this.opened.push(source);
    const code = this.#failures.get(source)?.shift();
    if (code !== undefined) throw new FileSystemError(`${source} cannot be read`, { code });
    return Readable.from([Buffer.from(source)]);
  }
}

const left = (fileSystem: Trying, name: string, changes: Partial<LeftFile> = {}): LeftFile => {
  return { path: name, fileSystem, source: name, sizeBytes: name.length, executable: false, ...changes };
};

async function fetch(files: readonly LeftFile[], folders: readonly string[] = []): Promise<string[]> {
  const fetched: string[] = [];
  const options = { folder, fetched: (file: LeftFile) => void fetched.push(file.path) };
  await fetchFiles({ files, folders }, options);
  return fetched.sort();
}

describe("files that are fetched", () => {
  test("have their names when they are whole, and may be run where they could be", async () => {
    const fileSystem = new Trying();
    const names = ["a", "deep/b", "c", "d", "e", "f"];
    const files = [...names.map((name) => left(fileSystem, name)), left(fileSystem, "run.sh", { executable: true })];
    expect(await fetch(files, ["empty/inner"])).toEqual([...names, "run.sh"].sort());
    expect(readFileSync(path.join(folder, "deep/b"), "utf8")).toBe("deep/b");
    expect(statSync(path.join(folder, "run.sh")).mode & 0o100).toBe(0o100);
    expect(statSync(path.join(folder, "a")).mode & 0o111).toBe(0);
    expect(statSync(path.join(folder, "empty/inner")).isDirectory()).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(["a", "c", "d", "deep", "e", "empty", "f", "run.sh"]);
  });

  test("are asked for three times where the file system is away, and once where it refuses", async () => {
    const away = new Trying({ a: ["TIMEOUT", "CONNECTION_LOST"] });
    expect(await fetch([left(away, "a")])).toEqual(["a"]);
    expect(away.opened).toEqual(["a", "a", "a"]);
    const longer = new Trying({ b: ["TIMEOUT", "UNREACHABLE", "TIMEOUT", "TIMEOUT"] });
    await expect(fetch([left(longer, "b")])).rejects.toMatchObject({ code: "TIMEOUT" });
    expect(longer.opened).toEqual(["b", "b", "b"]);
    const refused = new Trying({ c: ["ACCESS_DENIED"] });
    await expect(fetch([left(refused, "c")])).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    expect(refused.opened).toEqual(["c"]);
  });

  test("are no more when one of them could not be fetched, and nothing half is left", async () => {
    const fileSystem = new Trying();
    const names = Array.from({ length: 40 }, (_, index) => `file-${index}`);
    const changed = left(fileSystem, "changed", { sizeBytes: 3 });
    const all = [changed, ...names.map((name) => left(fileSystem, name))];
    await expect(fetch(all)).rejects.toMatchObject({
      code: "FILE_CHANGED",
      message: expect.stringMatching(/changed has 7 bytes, 3 were stored$/),
    });
    expect(fileSystem.opened.length).toBeLessThan(all.length);
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
    expect(readdirSync(folder)).not.toContain("changed");
  });
});

test("what another download does when one fails for good is ended too, and not tried again", async () => {
  const opened: string[] = [];
  const streams: Readable[] = [];
  class Away extends LocalFileSystem {
    override async open(source: string, { signal }: OpenOptions = {}): Promise<Readable> {
      opened.push(source);
      const aborted = new Promise((resolve) => signal?.addEventListener("abort", resolve));
      if (source === "silent") {
        await aborted;
        throw new FileSystemError("no answer", { code: "TIMEOUT" });
      }
      if (source === "refused") {
        await setImmediate();
        throw new FileSystemError("no", { code: "ACCESS_DENIED" });
      }
      const endless = new Readable({ read: () => undefined });
      streams.push(endless);
      return endless;
    }
  }
  const away = new Away();
  const files = ["endless", "silent", "refused"].map((name) => {
    return { path: name, fileSystem: away, source: name, sizeBytes: 1, executable: false };
  });
  const fetching = fetchFiles({ files, folders: [] }, { folder, fetched: () => undefined });
  await expect(fetching).rejects.toMatchObject({ code: "ACCESS_DENIED" });
  expect(opened).toEqual(["endless", "silent", "refused"]);
  expect(streams.map(({ destroyed }) => destroyed)).toEqual([true]);
  expect(readdirSync(folder)).toEqual([]);
});

test("of files that are there already the first is named, and the others are counted", () => {
  const fileSystem = new Trying();
  for (const name of ["b", "c", "d"]) writeFileSync(path.join(folder, name), "");
  const files = ["a", "b", "c", "d"].map((name) => left(fileSystem, name));
  const check = (force: boolean) => checkTargets({ files, folders: [] }, { folder, force });
  expect(() => check(false)).toThrow(`${folder}/b and 2 other files are there already\n`);
  expect(() => check(true)).not.toThrow();
});

test.each(["../x", "a/../../x", "/etc/x", "a//b", ".", "a/\0"])("the name %j leads out of the folder", (name) => {
  const files = [left(new Trying(), name)];
  const refused = expect.objectContaining({ code: "NAME_REFUSED" });
  expect(() => checkTargets({ files, folders: [] }, { folder, force: true })).toThrow(refused);
  expect(() => checkTargets({ files: [], folders: [name] }, { folder, force: true })).toThrow(refused);
});
