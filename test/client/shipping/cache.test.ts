import { createHash } from "node:crypto";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ContentCache } from "../../../client/shipping/cache.ts";
import { cachesOf, listCache, removeFromCache } from "../../../client/shipping/cache-prune.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { contentLengthBytes } from "../../../src/hadoop/hdfs/content.ts";
import { FileSystemError, type FileSystemErrorCode } from "../../../src/hadoop/hdfs/errors.ts";
import type { FileStatus } from "../../../src/hadoop/hdfs/file-system.ts";
import { FileSystems } from "../../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";

const user = userInfo().username;
const HOUR_MS = 3_600_000;
const content = Buffer.from("data");
const key = {
  sha256: createHash("sha256").update(content).digest("hex"),
  sizeBytes: content.length,
  name: "data.bin",
  shared: false,
};

/** Remembers what it was asked for, and refuses what a test wants. */
class Watched extends LocalFileSystem {
  readonly moved: number[] = [];
  readonly asked: string[] = [];
  readonly made: string[] = [];
  readonly removed: string[] = [];
  readonly lengths: (number | undefined)[] = [];
  owner: string | undefined;
  accessTimeMs = 0;
  breaksOff = false;
  isSlow = false;
  /** By the operation and the end of the path. */
  readonly refusals = new Map<string, FileSystemErrorCode>();

  override async stat(file: string): Promise<FileStatus> {
    this.asked.push(file);
    const status = await super.stat(file);
    if (!file.endsWith(key.name)) return status;
    return { ...status, accessTimeMs: this.accessTimeMs, ...(this.owner !== undefined && { owner: this.owner }) };
  }
  override async list(folder: string): Promise<FileStatus[]> {
    this.#mayRefuse("list", folder);
    const { accessTimeMs } = this;
    return (await super.list(folder)).map((status) => ({ ...status, accessTimeMs }));
  }
  override async mkdirs(folder: string, permission: number): Promise<void> {
    this.#mayRefuse("mkdirs", folder);
    this.made.push(folder);
    await super.mkdirs(folder, permission);
  }
  /** After a first try that broke off at the end. */
  override async create(...[target, sent, options]: Parameters<LocalFileSystem["create"]>): Promise<void> {
    this.#mayRefuse("create", target);
    this.lengths.push(contentLengthBytes(sent));
    if (this.breaksOff) await super.create(target, sent, options);
    await super.create(target, sent, options);
  }
  override async setTimes(...[, { accessTimeMs }]: Parameters<LocalFileSystem["setTimes"]>): Promise<void> {
    await setImmediate();
    this.moved.push(accessTimeMs ?? 0);
  }
  override async delete(...args: Parameters<LocalFileSystem["delete"]>): Promise<boolean> {
    await setImmediate();
    this.#mayRefuse("delete", args[0]);
    this.removed.push(args[0]);
    if (this.isSlow && this.removed.length === 1) return false;
    return args[0].endsWith("somebody-else-removed-it") ? false : await super.delete(...args);
  }

  #mayRefuse(operation: string, file: string): void {
    for (const [refused, code] of this.refusals) {
      const [named, end = ""] = refused.split(" ");
      if (named === operation && file.endsWith(end)) throw new FileSystemError(`${operation} ${file}: no`, { code });
    }
  }
}

let base: string;
let fileSystem: Watched;
let fileSystems: FileSystems;
let cache: ContentCache;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "cache-"));
  fileSystem = new Watched();
  fileSystems = new FileSystems({
    configuration: new Configuration(),
    credentials: simpleCredentials({ name: user }),
  });
  const trustedOwners = ["friend"];
  cache = new ContentCache({ fileSystems, stagingRoot: { fileSystem, path: base }, user, trustedOwners });
  await cache.put(key, content);
  for (const seen of [fileSystem.moved, fileSystem.made, fileSystem.lengths]) seen.length = 0;
});
afterEach(() => rm(base, { recursive: true }));

describe("the time of an entry that is used", () => {
  test("is moved to now when it is an hour old, so that it is not pruned", async () => {
    fileSystem.accessTimeMs = 1_000;
    await cache.get(key, 1_000 + HOUR_MS);
    expect(fileSystem.moved).toEqual([1_000 + HOUR_MS]);
    await cache.put(key, content, { nowMs: 1_001 + HOUR_MS });
    expect(fileSystem.moved).toEqual([1_000 + HOUR_MS, 1_001 + HOUR_MS]);
  });

  test("stays when it is newer: each submission would be a write", async () => {
    fileSystem.accessTimeMs = 1_000;
    await cache.get(key, 999 + HOUR_MS);
    expect(fileSystem.moved).toEqual([]);
  });

  test("stays when the entry is somebody else's, who alone may move it", async () => {
    fileSystem.owner = "friend";
    expect(await cache.get(key, 10 * HOUR_MS)).toMatchObject({ own: false });
    expect(fileSystem.moved).toEqual([]);
  });
});

test("the folders above entries are asked for once, however many entries a job has", async () => {
  await cache.get(key);
  fileSystem.asked.length = 0;
  await cache.get(key);
  expect(fileSystem.asked).toEqual([join(base, "cache/sha256", key.sha256, key.name)]);
});

const other = Buffer.from("more");
const otherKey = { ...key, sha256: createHash("sha256").update(other).digest("hex") };
const uploads = () => readdir(join(base, "cache/uploads"));

test("the folders of all entries are made once, however many entries a job has; others may only pass through them", async () => {
  const fresh = new ContentCache({ fileSystems, stagingRoot: { fileSystem, path: join(base, "fresh") }, user });
  await fresh.put(key, content);
  await fresh.put(otherKey, other);
  const folders = ["sha256", "uploads"].map((name) => join(fresh.root, name));
  expect(fileSystem.made.filter((folder) => folders.includes(folder))).toEqual(folders);
  expect(await Promise.all(folders.map(async (folder) => (await stat(folder)).mode & 0o1777))).toEqual([0o711, 0o711]);
});

test.each([
  ["are open to all where the cache is, each for his own files", 0o1777, 0o1777],
  ["are not where it is its owner's alone", 0o755, 0o711],
])("the folders in a cache that is there %s", async (_, mode, expected) => {
  await mkdir(join(base, "there/cache"), { recursive: true });
  await chmod(join(base, "there/cache"), mode);
  const there = new ContentCache({ fileSystems, stagingRoot: { fileSystem, path: join(base, "there") }, user });
  await there.put(key, content);
  for (const name of ["sha256", "uploads"]) expect((await stat(join(there.root, name))).mode & 0o1777).toBe(expected);
});

test("a cache in the place of the user's own is one; with one of the same name elsewhere the user has two", () => {
  class Elsewhere extends LocalFileSystem {
    override readonly uri: string = "hdfs://ns";
  }
  const at = (place: LocalFileSystem) => {
    const located = { locate: (path: string) => ({ fileSystem: place, path }) };
    const stagingRoot = { fileSystem, path: base };
    return new ContentCache({ fileSystems: located, stagingRoot, cacheDir: join(base, "cache"), user });
  };
  expect(cachesOf(at(fileSystem))).toHaveLength(1);
  expect(cachesOf(at(new Elsewhere())).map((one) => one.fileSystem.uri)).toEqual(["hdfs://ns", "file://"]);
});

test("what all may read is no reason for nodes to keep a job's own file for all", async () => {
  await chmod(base, 0o711);
  await cache.put({ ...otherKey, shared: true }, other);
  const open = new ContentCache({ fileSystems, stagingRoot: { fileSystem, path: base }, user });
  expect(await open.get({ ...otherKey, shared: true })).toMatchObject({ visibility: "PUBLIC" });
  expect(await open.get(otherKey)).toMatchObject({ visibility: "PRIVATE" });
});

describe("an upload", () => {
  test("tells the file system how much will come", async () => {
    await cache.put(otherKey, { lengthBytes: 4, open: () => Readable.from([other]) });
    expect(fileSystem.lengths).toEqual([4]);
  });

  test("that is stopped leaves nothing, also where a slow DataNode makes a file of it after its end", async () => {
    const stop = new AbortController();
    const open = () => {
      stop.abort(new Error("Ctrl-C"));
      return Readable.from([other]);
    };
    fileSystem.isSlow = true;
    const put = cache.put(otherKey, { lengthBytes: 4, open }, { signal: stop.signal });
    await expect(put).rejects.toThrow();
    expect(fileSystem.removed).toHaveLength(2);
    expect(await uploads()).toEqual([]);
    expect(await cache.get(otherKey)).toBeUndefined();
  });

  test("whose source cannot be read fails, and leaves nothing", async () => {
    const open = () =>
      new Readable({
        read() {
          this.destroy(new Error("the disk is broken"));
        },
      });
    await expect(cache.put(otherKey, { lengthBytes: 4, open })).rejects.toThrow("the disk is broken");
    expect(await uploads()).toEqual([]);
  });

  test.each([
    ["mkdirs sha256", "FILE_EXISTS"],
    ["mkdirs uploads", "ACCESS_DENIED"],
    ["create", "ACCESS_DENIED"],
    ["create", "NOT_A_DIRECTORY"],
  ] as const)("that the cache does not take is told with the key that mends it: %s, %s", async (refused, code) => {
    const fresh = new ContentCache({ fileSystems, stagingRoot: { fileSystem, path: base }, user });
    fileSystem.refusals.set(refused, code);
    await expect(fresh.put(otherKey, other)).rejects.toMatchObject({
      code: "CACHE_NOT_WRITABLE",
      exitCode: 3,
      message: expect.stringContaining(
        `: no\nThe cache file://${base}/cache cannot be written: set tony.cache.dir to a folder that you may write to`,
      ),
      cause: expect.objectContaining({ code }),
    });
  });

  test("that fails otherwise fails with that, whether its rest can be removed or not, which is tried once", async () => {
    fileSystem.refusals.set("create", "NO_SPACE");
    await expect(cache.put(otherKey, other)).rejects.toMatchObject({ code: "NO_SPACE" });
    expect(fileSystem.removed).toHaveLength(1);
    fileSystem.refusals.set("delete", "TIMEOUT");
    await expect(cache.put(otherKey, other)).rejects.toMatchObject({ code: "NO_SPACE" });
  });
});

test("an entry counts as used when it was put there, or when its time was moved after that", async () => {
  const [put] = await listCache(cache);
  fileSystem.accessTimeMs = (put?.lastUseMs ?? 0) + HOUR_MS;
  const [used] = await listCache(cache);
  expect((used?.lastUseMs ?? 0) - (put?.lastUseMs ?? 0)).toBe(HOUR_MS);
});

test("an upload that is tried again is filed under the hash of what came in the end", async () => {
  fileSystem.breaksOff = true;
  const entry = await cache.put(otherKey, other);
  expect(entry).toMatchObject({ sizeBytes: other.length, uploadedBytes: other.length });
});

test("what somebody else removed first is not counted as freed", async () => {
  const [file] = await listCache(cache);
  if (file === undefined) throw new Error("the cache is empty");
  const gone = { ...file, path: `${file.path}-somebody-else-removed-it`, sizeBytes: 1_000 };
  expect(await removeFromCache(cache, [gone, file])).toBe(content.length);
});

describe("a list of the cache", () => {
  const named = async (owner?: string) => (await listCache(cache, owner)).map(({ name }) => name);

  test("has what was not used for longest first, be it an entry or an upload", async () => {
    const [file] = await listCache(cache);
    await utimes(file?.path ?? "", 30, 30);
    await cache.put({ ...otherKey, name: "old.bin" }, other);
    await utimes(join(base, "cache/sha256", otherKey.sha256, "old.bin"), 10, 10);
    await writeFile(join(base, "cache/uploads/some"), "half");
    await utimes(join(base, "cache/uploads/some"), 20, 20);
    expect(await listCache(cache)).toMatchObject([
      { name: "old.bin", sha256: otherKey.sha256, sizeBytes: 4, lastUseMs: 10_000, partial: false },
      { name: "some", sha256: "", sizeBytes: 4, lastUseMs: 20_000, partial: true },
      { name: "data.bin", sha256: key.sha256, lastUseMs: 30_000, partial: false },
    ]);
  });

  test("has each of many entries once, and nothing that is none", async () => {
    const names = Array.from({ length: 35 }, (_, index) => `file-${index}`);
    for (const name of names) {
      await mkdir(join(base, "cache/sha256", name));
      await writeFile(join(base, "cache/sha256", name, name), "");
    }
    await writeFile(join(base, "cache/sha256/README"), "");
    expect((await named()).sort()).toEqual(["data.bin", ...names].sort());
  });

  test("lacks what others have closed, unless it is the folder of all entries", async () => {
    await cache.put(otherKey, other);
    fileSystem.refusals.set(`list ${otherKey.sha256}`, "ACCESS_DENIED");
    fileSystem.refusals.set("list uploads", "ACCESS_DENIED");
    expect(await listCache(cache)).toMatchObject([{ sha256: key.sha256 }]);
    fileSystem.refusals.set("list sha256", "ACCESS_DENIED");
    await expect(listCache(cache)).rejects.toMatchObject({ code: "ACCESS_DENIED" });
  });
});

describe("the folder of an entry that is removed", () => {
  test("stays while another name of the same content is in it", async () => {
    await cache.put({ ...key, name: "other.bin" }, content);
    const files = (await listCache(cache)).filter(({ name }) => name === "other.bin");
    expect(await removeFromCache(cache, files)).toBe(4);
    expect((await listCache(cache)).map(({ name }) => name)).toEqual(["data.bin"]);
  });

  test("may be another user's, who alone may remove it; any other fault is told", async () => {
    const files = await listCache(cache);
    fileSystem.refusals.set(`delete ${key.sha256}`, "ACCESS_DENIED");
    expect(await removeFromCache(cache, files)).toBe(4);
    fileSystem.refusals.set(`delete ${key.sha256}`, "TIMEOUT");
    await expect(removeFromCache(cache, files)).rejects.toMatchObject({ code: "TIMEOUT" });
  });
});
