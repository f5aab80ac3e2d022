import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ContentCache } from "../../../client/shipping/cache.ts";
import { listCache, removeFromCache } from "../../../client/shipping/cache-prune.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { openContent } from "../../../src/hadoop/hdfs/content.ts";
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

/** Remembers whose times were moved. */
class Watched extends LocalFileSystem {
  readonly moved: number[] = [];
  owner: string | undefined;
  accessTimeMs = 0;
  breaksOff = false;

  readonly asked: string[] = [];

  override async stat(file: string): Promise<FileStatus> {
    this.asked.push(file);
    const status = await super.stat(file);
    if (!file.endsWith(key.name)) return status;
    return { ...status, accessTimeMs: this.accessTimeMs, ...(this.owner !== undefined && { owner: this.owner }) };
  }
  override async list(folder: string): Promise<FileStatus[]> {
    const { accessTimeMs } = this;
    return (await super.list(folder)).map((status) => ({ ...status, accessTimeMs }));
  }
  /** After a first try that broke off at the end. */
  override async create(...[target, sent, options]: Parameters<LocalFileSystem["create"]>): Promise<void> {
    if (this.breaksOff) await buffer(openContent(sent));
    await super.create(target, sent, options);
  }
  override async setTimes(...[, { accessTimeMs }]: Parameters<LocalFileSystem["setTimes"]>): Promise<void> {
    this.moved.push(accessTimeMs ?? 0);
  }
  override async delete(...args: Parameters<LocalFileSystem["delete"]>): Promise<boolean> {
    return args[0].endsWith("somebody-else-removed-it") ? false : await super.delete(...args);
  }
}

let base: string;
let fileSystem: Watched;
let cache: ContentCache;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "cache-"));
  fileSystem = new Watched();
  const fileSystems = new FileSystems({
    configuration: new Configuration(),
    credentials: simpleCredentials({ name: user }),
  });
  const trustedOwners = ["friend"];
  cache = new ContentCache({ fileSystems, stagingRoot: { fileSystem, path: base }, user, trustedOwners });
  await cache.put(key, content);
  fileSystem.moved.length = 0;
});
afterEach(() => rm(base, { recursive: true }));

describe("the time of an entry that is used", () => {
  test("is moved to now when it is an hour old, so that it is not pruned", async () => {
    fileSystem.accessTimeMs = 1_000;
    await cache.get(key, 1_000 + HOUR_MS);
    expect(fileSystem.moved).toEqual([1_000 + HOUR_MS]);
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

test("an entry counts as used when it was put there, or when its time was moved after that", async () => {
  const [put] = await listCache(cache);
  fileSystem.accessTimeMs = (put?.lastUseMs ?? 0) + HOUR_MS;
  const [used] = await listCache(cache);
  expect((used?.lastUseMs ?? 0) - (put?.lastUseMs ?? 0)).toBe(HOUR_MS);
});

test("an upload that is tried again is filed under the hash of what came in the end", async () => {
  const other = Buffer.from("more");
  fileSystem.breaksOff = true;
  const sha256 = createHash("sha256").update(other).digest("hex");
  const entry = await cache.put({ ...key, sha256, sizeBytes: other.length }, other);
  expect(entry).toMatchObject({ sizeBytes: other.length, uploadedBytes: other.length });
});

test("what somebody else removed first is not counted as freed", async () => {
  const [file] = await listCache(cache);
  if (file === undefined) throw new Error("the cache is empty");
  const gone = { ...file, path: `${file.path}-somebody-else-removed-it`, sizeBytes: 1_000 };
  expect(await removeFromCache(cache, [gone, file])).toBe(content.length);
});
