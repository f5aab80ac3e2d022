import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, ReadStream } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir, userInfo } from "node:os";
import { basename, dirname, join } from "node:path";
import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { type CacheEntry, ContentCache } from "../../../client/shipping/cache.ts";
import {
  cachesOf,
  listCache,
  liveReferences,
  prunable,
  removeFromCache,
} from "../../../client/shipping/cache-prune.ts";
import { HashMemo } from "../../../client/shipping/hash-memo.ts";
import { planShipping, type ShipItem, type ShippingOptions, ship } from "../../../client/shipping/shipping.ts";
import { uploadName } from "../../../client/shipping/uploads.ts";
import { StagingFolder, stagingRoot } from "../../../client/staging/staging-folder.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { openContent } from "../../../src/hadoop/hdfs/content.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { FileStatus } from "../../../src/hadoop/hdfs/file-system.ts";
import { FileSystems, type LocatedPath } from "../../../src/hadoop/hdfs/file-systems.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { writeZip } from "../../support/zip-writer.ts";

const user = userInfo().username;
const later = () => Date.now() + 60_000;
const sha256Of = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");

let base: string;
let fileSystems: FileSystems;
let root: LocatedPath;
let cache: ContentCache;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "ship-"));
  fileSystems = new FileSystems({ configuration: new Configuration(), credentials: simpleCredentials({ name: user }) });
  root = await stagingRoot(fileSystems, { stagingDir: `file://${base}/staging` });
  cache = openCache();
});
afterEach(() => rm(base, { recursive: true }));

function openCache(): ContentCache {
  return new ContentCache({ fileSystems, stagingRoot: root, user });
}

test("an upload of which less arrived than was sent is no entry of the cache, and nothing of it stays", async () => {
  const key = { sha256: "0".repeat(64), sizeBytes: 10, name: "data.bin", shared: false };
  await expect(cache.put(key, Buffer.from("half"))).rejects.toMatchObject({ code: "UPLOAD_INCOMPLETE", exitCode: 3 });
  expect(await cache.get(key)).toBeUndefined();
  expect(await readdir(join(base, "staging", "cache", "uploads"))).toEqual([]);
});

test("a file that is edited at equal length while it is sent is no entry of the cache: others would find it by a hash that it has not", async () => {
  const key = {
    sha256: sha256Of("before"),
    sizeBytes: 6,
    name: "data.bin",
    shared: false,
  };
  const edited = { lengthBytes: 6, open: () => Readable.from([Buffer.from("afterw")]) };
  await expect(cache.put(key, edited)).rejects.toMatchObject({ code: "UPLOAD_CHANGED" });
  expect(await cache.get(key)).toBeUndefined();
  expect(await readdir(join(base, "staging", "cache", "uploads"))).toEqual([]);
  expect(await cache.put(key, Buffer.from("before"))).toMatchObject({ uploadedBytes: 6 });
});

test("a file that is cut short while it is sent is told in the same words as one that is edited", async () => {
  class Remote extends LocalFileSystem {
    override async create(): Promise<void> {
      throw new FileSystemError("CREATE /f: the data to send has 3 bytes", { code: "FILE_CHANGED" });
    }
  }
  const remote = { fileSystem: new Remote(), path: root.path };
  const key = { sha256: sha256Of("before"), sizeBytes: 6, name: "data.bin", shared: false };
  const put = new ContentCache({ fileSystems, stagingRoot: remote, user }).put(key, Buffer.from("before"));
  await expect(put).rejects.toMatchObject({
    code: "UPLOAD_CHANGED",
    message: "data.bin changed while it was uploaded: submit again when nothing writes to it",
    cause: expect.objectContaining({ code: "FILE_CHANGED" }),
  });
});

test("an entry is kept on as many nodes as is asked for, before anybody can find it", async () => {
  const done: string[] = [];
  class Watched extends LocalFileSystem {
    override async setReplication(file: string, replicas: number): Promise<void> {
      await setImmediate();
      done.push(`${replicas} replicas of ${basename(file).replace(/.*-/, "")}`);
    }
    override async rename(...names: Parameters<LocalFileSystem["rename"]>): Promise<boolean> {
      done.push("found");
      return await super.rename(...names);
    }
  }
  const watched = { fileSystem: new Watched(), path: root.path };
  const content = Buffer.from("data");
  const key = { sha256: sha256Of(content), sizeBytes: content.length, name: "data.bin", shared: false };
  await new ContentCache({ fileSystems, stagingRoot: watched, user, replicas: 7 }).put(key, content);
  expect(done).toEqual(["7 replicas of data.bin", "found"]);
});

describe("shipping", () => {
  let program: string;
  let runtime: string;
  beforeEach(async () => {
    program = join(base, "program");
    runtime = join(base, "node");
    await mkdir(program);
    await writeFile(join(program, "train.py"), "print(1)\n");
    await writeFile(runtime, "a runtime");
  });

  const items = () => [
    { link: "node", source: runtime, as: "file", shared: true } as const,
    { link: "src", source: program, as: "archive" } as const,
  ];
  const submit = async (cacheUsed = cache) => {
    const memo = await HashMemo.open(join(base, "memo"), later);
    return ship(items(), { fileSystems, cache: cacheUsed, memo });
  };

  test("uploads what is new and nothing the second time", async () => {
    const first = await submit();
    expect(first.map(({ file }) => [file.link, file.type])).toEqual([
      ["node", "FILE"],
      ["src", "ARCHIVE"],
    ]);
    expect(first[0]?.file.url).toMatch(/\/staging\/cache\/sha256\/[0-9a-f]{64}\/node$/);
    expect(first[1]?.file.url).toMatch(/\/program\.tar\.gz$/);
    expect(first.every(({ uploadedBytes, file }) => uploadedBytes === file.sizeBytes)).toBe(true);
    const second = await submit(openCache());
    expect(second).toEqual(first.map(({ file }) => ({ file, uploadedBytes: 0, remarks: [] })));
  });

  test("of what was sent the next submission remembers the hashes, also where it only asks what it would send", async () => {
    await submit();
    const read = jest.spyOn(HashMemo.prototype, "remember");
    await submit(openCache());
    await planShipping(items(), { fileSystems, cache, memo: await HashMemo.open(join(base, "memo"), later) });
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
  });

  test("a plan says what would be sent of it, how much that is as far as it is known, and what differs", async () => {
    await mkdir(join(program, ".git"));
    const plan = async (folder = "memo") =>
      planShipping(items(), { fileSystems, cache, memo: await HashMemo.open(join(base, folder), later) });
    const remarks = ["1 file, 9 B; left out: .git"];
    expect(await plan()).toEqual([
      { link: "node", sizeBytes: 9, cached: false, remarks: [] },
      { link: "src", sizeBytes: 9, cached: false, remarks },
    ]);
    expect(await readdir(join(base, "staging"))).toEqual([]);
    const [node, src] = await submit();
    expect(src?.remarks).toEqual(remarks);
    const packed = { link: "src", sizeBytes: src?.file.sizeBytes, remarks };
    expect(await plan()).toEqual([
      { link: "node", sizeBytes: 9, cached: true, remarks: [] },
      { ...packed, cached: true },
    ]);
    await rm(fileSystems.locate(src?.file.url ?? "").path);
    await rm(fileSystems.locate(node?.file.url ?? "").path);
    expect(await plan()).toMatchObject([{ cached: false }, { ...packed, cached: false }]);
  });

  test.each([
    ["when it was sent", undefined],
    ["also where it could not be sent", new Error("HDFS is away")],
  ])("of what is packed nothing stays on this machine, %s", async (_, failure) => {
    const archives: string[] = [];
    class Watched extends ContentCache {
      override async put(...args: Parameters<ContentCache["put"]>): Promise<CacheEntry> {
        const stream = openContent(args[1]).destroy();
        if (stream instanceof ReadStream) archives.push(String(stream.path));
        if (failure !== undefined) throw failure;
        return await super.put(...args);
      }
    }
    const watched = new Watched({ fileSystems, stagingRoot: root, user });
    const src = { link: "src", source: program, as: "archive" } as const;
    const shipped = ship([src], { fileSystems, cache: watched, memo: await HashMemo.open(base) });
    const fault = await shipped.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(fault).toBe(failure);
    expect(archives).toHaveLength(1);
    expect(existsSync(dirname(archives[0] ?? ""))).toBe(false);
  });

  test("an environment that needs sources of this machine is remarked on, unless they are sent with it", async () => {
    const packages = join(base, "env/lib/python3.11/site-packages");
    await mkdir(packages, { recursive: true });
    await writeFile(join(base, "env/pyvenv.cfg"), "home = /usr/bin\n");
    await writeFile(join(packages, "mine.pth"), `${program}\n`);
    const env = { link: "env", source: join(base, "env"), as: "archive" } as const;
    const sources = { link: "src", source: `file://${program}`, as: "archive" } as const;
    const remarks = async (...sent: readonly (typeof env | typeof sources)[]) =>
      (await planShipping(sent, { fileSystems, cache, memo: await HashMemo.open(join(base, "memo")) }))[0]?.remarks;
    expect(await remarks(env)).toEqual([expect.stringContaining(`mine.pth refers to ${program} of this machine`)]);
    expect(await remarks(env, sources)).toEqual([]);
  });

  test("a folder that becomes the working directory is for the executor to unpack", async () => {
    const memo = await HashMemo.open(join(base, "memo"), later);
    const src = { link: "src", source: program, as: "working-directory" } as const;
    expect(await ship([src], { fileSystems, cache, memo })).toMatchObject([{ file: { type: "FILE" } }]);
  });

  test.each([
    ["my model (1).pt", "my_model__1_.pt"],
    [".hidden", "_hidden"],
    [`${"long".repeat(30)}.tar.gz`, `${"long".repeat(30)}.tar.gz`.slice(27)],
  ])("the cache has %s under a name that YARN's URLs allow; its link restores its own", async (name, stored) => {
    await writeFile(join(base, name), "12345");
    const memo = await HashMemo.open(join(base, "memo"), later);
    const item = { link: name, source: `file://${join(base, name)}`, as: "file" } as const;
    const [shipped] = await ship([item], { fileSystems, cache, memo });
    expect(shipped).toMatchObject({ uploadedBytes: 5, file: { link: name } });
    expect(basename(shipped?.file.url ?? "")).toBe(stored);
  });

  test("what is wrong with several is told together, but not a file system that does not answer as a mistake", async () => {
    const memo = await HashMemo.open(join(base, "memo"));
    const one = { link: "x", source: "/no/such", as: "file" } as const;
    const other = { ...one, source: "/nor/this" };
    const silent = { link: "node", source: runtime, as: "file" } as const;
    class Silent extends LocalFileSystem {
      override async stat(): Promise<FileStatus> {
        throw new FileSystemError("no answer", { code: "TIMEOUT" });
      }
    }
    const both = ship([one, other, one], { fileSystems, cache, memo });
    await expect(both).rejects.toThrow(/^\/no\/such, .* does not exist\n\/nor\/this, .* does not exist$/);
    const away = new ContentCache({ fileSystems, stagingRoot: { fileSystem: new Silent(), path: root.path }, user });
    await expect(ship([one, silent], { fileSystems, cache: away, memo })).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("an upload that is stopped is the last one", async () => {
    const memo = await HashMemo.open(join(base, "memo"), later);
    const stop = new AbortController();
    class Stopped extends ContentCache {
      override async put(...args: Parameters<ContentCache["put"]>): Promise<CacheEntry> {
        const entry = await super.put(...args);
        stop.abort(new Error("Ctrl-C"));
        return entry;
      }
    }
    const stopped = new Stopped({ fileSystems, stagingRoot: root, user });
    const shipped = ship(items(), { fileSystems, cache: stopped, memo, signal: stop.signal });
    await expect(shipped).rejects.toThrow("Ctrl-C");
    expect((await listCache(cache)).map(({ name }) => name)).toEqual(["node"]);
  });

  test("packs once what two roles have", async () => {
    const memo = await HashMemo.open(join(base, "memo"), later);
    const remember = jest.spyOn(memo, "remember");
    const folder = { source: program, as: "archive" } as const;
    const shipped = await ship(
      ["ps", "worker"].map((link) => ({ ...folder, link })),
      { fileSystems, cache, memo },
    );
    expect(remember).toHaveBeenCalledTimes(1);
    expect(shipped.map(({ file, uploadedBytes }) => [file.link, uploadedBytes > 0])).toEqual([
      ["ps", true],
      ["worker", false],
    ]);
    expect(shipped[0]?.file.url).toBe(shipped[1]?.file.url);
  });

  test("ours is told with its hash, for nodes to check: not the job's own files, nor a large one of the user's own cache", async () => {
    const bundle = join(base, "am.cjs");
    await writeFile(bundle, "a program");
    await writeFile(runtime, Buffer.alloc(16 * 1024 * 1024 + 1));
    const memo = await HashMemo.open(join(base, "memo"), later);
    const shipped = await ship([...items(), { link: "am.cjs", source: bundle, as: "file", shared: true }], {
      fileSystems,
      cache,
      memo,
    });
    expect(shipped.map(({ file }) => [file.link, file.sha256])).toEqual([
      ["node", undefined],
      ["src", undefined],
      ["am.cjs", sha256Of("a program")],
    ]);
  });

  test("sends a zip with links as .tar.gz under the same name, and packs it once", async () => {
    await writeFile(
      join(base, "venv.zip"),
      writeZip([{ path: "python", mode: 0o120777, content: "/usr/bin/python3" }]),
    );
    const venv = { link: "venv", source: join(base, "venv.zip"), as: "archive" } as const;
    const send = async () =>
      ship([venv], { fileSystems, cache: openCache(), memo: await HashMemo.open(join(base, "memo"), later) });
    const [first] = await send();
    expect(first?.file).toMatchObject({
      link: "venv",
      type: "ARCHIVE",
      url: expect.stringMatching(/\/venv\.tar\.gz$/),
    });
    expect(await send()).toEqual([{ ...first, uploadedBytes: 0 }]);
    expect(first?.remarks).toEqual([expect.stringContaining("1 symbolic link")]);
  });

  test("sends a zip without links as it is", async () => {
    await writeFile(join(base, "plain.zip"), writeZip([{ path: "lib/a.py", mode: 0o100644, content: "pass" }]));
    const item = { link: "venv", source: join(base, "plain.zip"), as: "archive" } as const;
    const memo = await HashMemo.open(join(base, "memo"), later);
    expect(await ship([item], { fileSystems, cache, memo })).toMatchObject([
      { file: { type: "ARCHIVE", url: expect.stringMatching(/\/plain\.zip$/) }, remarks: [] },
    ]);
    await writeFile(join(base, "no.zip"), "no zip at all, which a program may open all the same");
    const file = { link: "no.zip", source: join(base, "no.zip"), as: "file" } as const;
    expect(await ship([file], { fileSystems, cache, memo })).toMatchObject([{ file: { type: "FILE" } }]);
  });

  test("refuses a zip with links that lies on the cluster, and takes one without", async () => {
    const stored = new FileSystems({
      configuration: new Configuration().withValues({
        "fs.defaultFS": "viewfs://v",
        "fs.viewfs.mounttable.v.linkFallback": `file://${base}`,
      }),
      credentials: simpleCredentials({ name: user }),
    });
    const files = Array.from({ length: 500 }, (_, number) => ({ path: `lib/${number}.py`, mode: 0o100644 }));
    const many = [{ path: "model.pt", mode: 0o100644, content: "x".repeat(300_000) }, ...files];
    await writeFile(join(base, "plain.zip"), writeZip(many));
    await writeFile(join(base, "linked.zip"), writeZip([...many, { path: "python", mode: 0o120777, content: "3" }]));
    const memo = await HashMemo.open(join(base, "memo"), later);
    const send = (name: string) =>
      ship([{ link: "venv", source: `viewfs://v/${name}`, as: "archive" }], { fileSystems: stored, cache, memo });
    await expect(send("plain.zip")).resolves.toHaveLength(1);
    await expect(send("linked.zip")).rejects.toMatchObject({
      code: "LINKS_IN_ZIP",
      message: expect.stringMatching(/^viewfs:\/\/v\/linked\.zip is a zip with 1 symbolic link, .*\.tar\.gz/),
    });
  });

  test("uploads again what changed, and leaves the entry before as it was", async () => {
    const [, before] = await submit();
    await writeFile(join(program, "train.py"), "print(2)\n");
    const [node, after] = await submit();
    expect(node?.uploadedBytes).toBe(0);
    expect(after?.uploadedBytes).toBeGreaterThan(0);
    expect(after?.file.url).not.toBe(before?.file.url);
    const old = await root.fileSystem.stat(fileSystems.locate(before?.file.url ?? "").path);
    expect(old.modificationTimeMs).toBe(before?.file.modificationTimeMs);
  });

  test("two submitters at once end with one entry and no leftovers", async () => {
    const [left, right] = await Promise.all([submit(), submit(openCache())]);
    expect(left?.map(({ file }) => file)).toEqual(right?.map(({ file }) => file));
    const files = await listCache(cache);
    expect(files.map(({ name }) => name).sort()).toEqual(["node", "program.tar.gz"]);
  });

  test("what is everybody's can be read by everybody, the program by its user alone", async () => {
    const [node, src] = await submit();
    const mode = async (url = "") => (await stat(fileSystems.locate(url).path)).mode & 0o777;
    expect([await mode(node?.file.url), await mode(src?.file.url)]).toEqual([0o755, 0o600]);
    const folders = [node, src].map((one) => one && mode(dirname(one.file.url)));
    expect(await Promise.all(folders)).toEqual([0o755, 0o700]);
    expect(src?.file.visibility).toBe("PRIVATE");
  });

  test("an entry is PUBLIC only while every folder above grants it", async () => {
    await chmod(base, 0o711);
    expect((await submit(openCache()))[0]?.file.visibility).toBe("PUBLIC");
    await chmod(base, 0o700);
    expect((await submit(openCache()))[0]?.file.visibility).toBe("PRIVATE");
  });

  test("progress tells bytes sent and in all", async () => {
    const seen: unknown[] = [];
    const memo = await HashMemo.open(join(base, "memo"));
    await ship(items().slice(0, 1), { fileSystems, cache, memo, onProgress: (progress) => seen.push(progress) });
    expect(seen).toEqual([{ link: "node", sentBytes: 9, totalBytes: 9 }]);
  });

  test("a source that is missing or cannot be unpacked is named", async () => {
    const memo = await HashMemo.open(join(base, "memo"));
    const options = { fileSystems, cache, memo };
    await expect(ship([{ link: "x", source: "/no/such", as: "file" }], options)).rejects.toThrow(
      "/no/such, which the containers are to find as x, does not exist",
    );
    const namedBy = "job.xml:9: tony.worker.resources";
    await expect(ship([{ link: "x", source: runtime, as: "archive", namedBy }], options)).rejects.toThrow(
      `job.xml:9: tony.worker.resources: ${runtime} is to be unpacked, but YARN unpacks only .zip, `,
    );
  });

  test.each([
    ["/dev/null", "/dev/null is neither a file nor a folder"],
    ["/proc/self/mem", "/proc/self/mem, which the containers are to find as x, cannot be read: EIO"],
  ])("a source that cannot be sent is named: %s", async (source, words) => {
    const memo = await HashMemo.open(join(base, "memo"));
    const sent = ship([{ link: "x", source, as: "file", namedBy: "job.xml:9" }], { fileSystems, cache, memo });
    await expect(sent).rejects.toMatchObject({
      code: "RESOURCE_UNREADABLE",
      message: expect.stringContaining(`job.xml:9: ${words}`),
    });
  });

  describe("files of the cluster's", () => {
    /** The cluster's files are those of this machine. */
    class LocalOnly extends FileSystems {
      override locate = (uri: string) => ({ fileSystem: new LocalFileSystem(), path: new URL(uri).pathname });
    }
    const send = async (items: readonly ShipItem[], changes: Partial<ShippingOptions> = {}) => {
      const credentials = simpleCredentials({ name: user });
      const onCluster = new LocalOnly({ configuration: new Configuration(), credentials });
      return await ship(items, { fileSystems: onCluster, cache, memo: await HashMemo.open(base), ...changes });
    };
    const stored = async (name: string, as: ShipItem["as"]) => {
      await writeFile(join(base, name), "12345");
      await utimes(join(base, name), 7, 7);
      return { link: "x", source: `hdfs://${base}/${name}`.replace("hdfs:///", "hdfs://ns/"), as };
    };

    test.each([
      ["data.zip", "file", "FILE"],
      ["env.tar.gz", "archive", "ARCHIVE"],
      ["src.tar.gz", "working-directory", "ARCHIVE"],
    ] as const)("are used in place: %s as %s", async (name, as, type) => {
      expect(await send([await stored(name, as)])).toEqual([
        {
          file: {
            link: "x",
            url: `file://${base}/${name}`,
            ...{ sizeBytes: 5, modificationTimeMs: 7_000, type, visibility: "PRIVATE" },
          },
          uploadedBytes: 0,
          remarks: [],
        },
      ]);
    });

    test("that YARN does not unpack are refused", async () => {
      const item = { ...(await stored("env.bin", "archive")), namedBy: "job.xml:9" };
      await expect(send([item])).rejects.toMatchObject({
        code: "NOT_AN_ARCHIVE",
        message: expect.stringMatching(/^job\.xml:9: hdfs:.*env\.bin is to be unpacked, but YARN unpacks only /),
      });
    });

    test("that are not there are named with their keys and places", async () => {
      const item = {
        link: "x",
        source: "hdfs:///no/such",
        as: "file",
        namedBy: "job.xml:9: tony.am.resources",
      } as const;
      await expect(send([item])).rejects.toThrow(
        "job.xml:9: tony.am.resources names hdfs:///no/such, which does not exist",
      );
      const { namedBy: _, ...unnamed } = { ...item, source: "hdfs:///nor/this" };
      await expect(send([item, unnamed])).rejects.toMatchObject({
        code: "RESOURCE_UNREADABLE",
        exitCode: 2,
        message:
          "job.xml:9: tony.am.resources names hdfs:///no/such, which does not exist\n" +
          "The job names hdfs:///nor/this, which does not exist",
      });
    });

    test("that the cluster does not show are its own fault", async () => {
      const item = { link: "x", source: `hdfs://ns${"/long".repeat(1_000)}`, as: "file" } as const;
      await expect(send([item])).rejects.toMatchObject({ name: "FileSystemError", code: "INVALID_REQUEST" });
    });

    test("on a file system without a client here are as the job states them", async () => {
      const facts = { sizeBytes: 5, modificationTimeMs: 7 };
      const [url, other] = ["gs://bucket/env.tar.gz", "gs://bucket/env.bin"];
      const foreign = {
        stated: [url, other].map((one) => ({ url: one, ...facts })),
        environment: { PATH: base },
      };
      const item = { link: "x", source: url, as: "archive" } as const;
      expect(await send([item], { foreign })).toMatchObject([{ file: { link: "x", url, ...facts, type: "ARCHIVE" } }]);
      expect(await send([{ ...item, source: other, as: "file" }], { foreign })).toMatchObject([
        { file: { type: "FILE" } },
      ]);
      await expect(send([{ ...item, source: other }], { foreign })).rejects.toMatchObject({ code: "NOT_AN_ARCHIVE" });
      const unknown = { foreign: { stated: [], environment: { PATH: base } } };
      await expect(send([item], unknown)).rejects.toThrow(/^The job names gs:\/\/bucket\/env\.tar\.gz: /);
      await expect(send([{ ...item, namedBy: "job.xml:9" }], unknown)).rejects.toThrow(/^job\.xml:9 names gs:/);
    });
  });

  test("an entry of the wrong size is an error that says what to do", async () => {
    const [node] = await submit();
    await writeFile(fileSystems.locate(node?.file.url ?? "").path, "cut");
    await expect(submit(openCache())).rejects.toMatchObject({
      code: "CACHE_ENTRY_DAMAGED",
      exitCode: 3,
      message: expect.stringContaining("has 3 bytes instead of 9: remove it"),
    });
  });
});

describe("a cache that many users write to", () => {
  const content = Buffer.from("data");
  const key = { sha256: sha256Of(content), sizeBytes: 4, name: "data.bin", shared: true };
  let shared: string;
  let fileSystem: OwnedFiles;

  /** This machine's files, some of which belong to somebody else. */
  class OwnedFiles extends LocalFileSystem {
    readonly ofMallory: string[] = [];
    closedFolder: string | undefined;
    override async stat(file: string): Promise<FileStatus> {
      if (dirname(file) === this.closedFolder) {
        throw new FileSystemError(`${file}: Permission denied`, { code: "ACCESS_DENIED", path: file });
      }
      return { ...(await super.stat(file)), ...(this.ofMallory.includes(file) && { owner: "mallory" }) };
    }
  }

  beforeEach(async () => {
    fileSystem = new OwnedFiles();
    shared = join(base, "shared");
    await fileSystem.mkdirs(shared, 0o1777);
  });

  const options = () => ({
    fileSystems: { locate: (file: string) => ({ fileSystem, path: file }) },
    stagingRoot: { fileSystem, path: root.path },
    cacheDir: shared,
    user,
  });
  const open = () => new ContentCache(options());

  test("is refused where everybody may replace what others have there, unless the cluster believes names", async () => {
    await open().put(key, content);
    await chmod(shared, 0o777);
    await expect(open().get(key)).rejects.toMatchObject({
      code: "CACHE_OPEN_TO_OTHERS",
      exitCode: 3,
      message: expect.stringMatching(
        new RegExp(
          `^file://${shared} can be changed by everybody .*, or set tony\\.cache\\.dir to a folder of yours .* /tmp/${user}$`,
        ),
      ),
    });
    const believing = new ContentCache({ ...options(), believesNames: true });
    expect((await believing.get(key))?.path).toBe(`${shared}/sha256/${key.sha256}/data.bin`);
  });

  test("may belong to the file system's superuser, who can do anything anyway", async () => {
    await fileSystem.mkdirs(join(shared, "sha256"), 0o1777);
    fileSystem.ofMallory.push("/", shared, join(shared, "sha256"));
    expect((await open().put(key, content)).path).toBe(`${shared}/sha256/${key.sha256}/data.bin`);
  });

  test("says of an entry that its user has made and that is damaged what to do: nobody else did that", async () => {
    const { path } = await open().put(key, content);
    await truncate(path, 1);
    await expect(open().put(key, content)).rejects.toMatchObject({ code: "CACHE_ENTRY_DAMAGED" });
  });

  test("holds what its users need", async () => {
    const put = await open().put(key, content);
    expect(put.path).toBe(`${shared}/sha256/${key.sha256}/data.bin`);
    expect(await open().get(key)).toEqual({ ...put, uploadedBytes: 0 });
  });

  test.each([
    ["an entry's folder", `sha256/${key.sha256}`, 0o755],
    ["an entry's folder that all may write to", `sha256/${key.sha256}`, 0o777],
    ["the folder of all entries", "sha256", 0o755],
    ["the folder of uploads", "uploads", 0o755],
  ])("keeps nobody from an entry because somebody made %s first: it goes to the user's own", async (_, name, mode) => {
    const made = join(shared, name);
    await fileSystem.mkdirs(made, mode);
    fileSystem.ofMallory.push(made);
    const put = await open().put(key, content);
    expect(put).toMatchObject({ path: `${root.path}/cache/sha256/${key.sha256}/data.bin`, uploadedBytes: 4 });
    expect(await readdir(made)).toEqual([]);
    expect((await open().put(key, content)).uploadedBytes).toBe(0);
  });

  test("gives no job an entry that somebody else has put there", async () => {
    const folder = join(shared, "sha256", key.sha256);
    await fileSystem.mkdirs(folder, 0o755);
    await fileSystem.create(join(folder, key.name), Buffer.from("evil"), { permission: 0o755 });
    fileSystem.ofMallory.push(folder, join(folder, key.name));
    expect(await open().get(key)).toBeUndefined();
    expect((await open().put(key, content)).path).toContain(root.path);
  });

  test("keeps nobody from an entry that somebody else has put there for himself alone", async () => {
    fileSystem.closedFolder = join(shared, "sha256", key.sha256);
    expect(await open().get(key)).toBeUndefined();
    expect((await open().put(key, content)).path).toContain(root.path);
  });

  test("is closed where the folders above it are, which is the cluster's fault; of a closed one below it that is told", async () => {
    fileSystem.closedFolder = base;
    await expect(open().get({ ...key, shared: false })).rejects.toMatchObject({
      name: "FileSystemError",
      code: "ACCESS_DENIED",
    });
    const own = new ContentCache({ ...options(), cacheDir: undefined });
    fileSystem.closedFolder = join(own.root, "sha256", key.sha256);
    await expect(own.get(key)).rejects.toMatchObject({
      code: "CACHE_ENTRY_UNREADABLE",
      exitCode: 3,
      cause: expect.objectContaining({ code: "ACCESS_DENIED" }),
    });
  });

  test("gives what a trusted owner has put there with the hash that it must have, whatever its size", async () => {
    const runtime = Buffer.alloc(16 * 1024 * 1024 + 1);
    const source = join(base, "node");
    await writeFile(source, runtime);
    const folder = join(shared, "sha256", sha256Of(runtime));
    await fileSystem.mkdirs(folder, 0o755);
    await fileSystem.create(join(folder, "node"), runtime, { permission: 0o755 });
    fileSystem.ofMallory.push(folder, join(folder, "node"));
    const trusting = new ContentCache({ ...options(), trustedOwners: ["mallory"] });
    const memo = await HashMemo.open(join(base, "memo"), later);
    const [shipped] = await ship([{ link: "node", source, as: "file", shared: true }], {
      fileSystems,
      cache: trusting,
      memo,
    });
    expect(shipped).toMatchObject({ uploadedBytes: 0, file: { sha256: sha256Of(runtime) } });
  });

  describe("and whose folder of all entries a trusted owner has made, who can put others in their places", () => {
    const runtime = Buffer.alloc(16 * 1024 * 1024 + 1);
    const trusting = () => new ContentCache({ ...options(), trustedOwners: ["mallory"] });
    const shippedBy = async (used: ContentCache) => {
      const [node, code] = [join(base, "node"), join(base, "train.py")];
      await writeFile(node, runtime);
      await writeFile(code, content);
      return await ship(
        [
          { link: "node", source: node, as: "file", shared: true },
          { link: "train.py", source: code, as: "file" },
        ],
        { fileSystems, cache: used, memo: await HashMemo.open(join(base, "memo"), later) },
      );
    };

    beforeEach(async () => {
      await fileSystem.mkdirs(join(shared, "sha256"), 0o1777);
      fileSystem.ofMallory.push(join(shared, "sha256"));
    });

    test("has nodes check a runtime there by its hash, although its user made it", async () => {
      const [node] = await shippedBy(trusting());
      expect(node).toMatchObject({ uploadedBytes: runtime.length, file: { sha256: sha256Of(runtime) } });
      expect(node?.file.url).toContain(shared);
      expect((await shippedBy(trusting()))[0]).toMatchObject({ uploadedBytes: 0, file: { sha256: sha256Of(runtime) } });
    });

    test("gives no job a file of its own from there, which nodes do not check: that is the user's own cache's", async () => {
      const [, code] = await shippedBy(trusting());
      expect(code?.file.url).toMatch(/staging\/cache\/sha256\/[0-9a-f]{64}\/train\.py$/);
      expect(await readdir(join(shared, "sha256"))).toEqual([sha256Of(runtime)]);
      const [, again] = await shippedBy(trusting());
      expect(again).toEqual({ ...code, uploadedBytes: 0 });
    });

    test("gives none either where the folder of uploads is a trusted owner's, who could put others in their places", async () => {
      fileSystem.ofMallory.splice(0);
      await fileSystem.mkdirs(join(shared, "uploads"), 0o1777);
      fileSystem.ofMallory.push(join(shared, "uploads"));
      const put = await trusting().put({ ...key, shared: false }, content);
      expect(put.path).toContain(root.path);
    });

    test("gives none even where that folder was made while the file was sent", async () => {
      fileSystem.ofMallory.pop();
      const create = fileSystem.create.bind(fileSystem);
      fileSystem.create = async (...args) => {
        await create(...args);
        fileSystem.ofMallory.push(join(shared, "sha256"));
      };
      const put = await trusting().put({ ...key, shared: false }, content);
      expect(put.path).toContain(root.path);
    });

    test("gives none that has another size than it must have", async () => {
      const folder = join(shared, "sha256", key.sha256);
      await fileSystem.mkdirs(folder, 0o755);
      await fileSystem.create(join(folder, key.name), Buffer.from("cut"), { permission: 0o755 });
      fileSystem.ofMallory.push(folder, join(folder, key.name));
      expect((await trusting().put(key, content)).path).toContain(root.path);
    });

    test("and the user's own beside it is cleaned and pruned with it", async () => {
      await shippedBy(trusting());
      const abandoned = join(root.path, "cache", "uploads", uploadName("x", { host: hostname(), pid: 2 ** 22 + 1 }));
      await writeFile(abandoned, "");
      await trusting().sweep(Date.now());
      const files = await Promise.all(cachesOf(trusting()).map((one) => listCache(one, user)));
      expect(files.map((of) => of.map(({ name }) => name))).toEqual([["node"], ["train.py"]]);
    });
  });

  test("lists what is one user's without looking at what others have put there", async () => {
    const folder = join(shared, "sha256", "0".repeat(64));
    await open().put(key, content);
    await fileSystem.mkdirs(folder, 0o755);
    fileSystem.ofMallory.push(folder);
    const list = fileSystem.list.bind(fileSystem);
    fileSystem.list = async (listed) => {
      expect(listed).not.toBe(folder);
      return await Promise.all((await list(listed)).map(({ path }) => fileSystem.stat(path)));
    };
    expect((await listCache(open(), user)).map(({ name }) => name)).toEqual(["data.bin"]);
  });

  test("is refused itself where it belongs to somebody who is not trusted", async () => {
    fileSystem.ofMallory.push(shared);
    await expect(open().put(key, content)).rejects.toMatchObject({
      code: "CACHE_OWNER_NOT_TRUSTED",
      message: expect.stringMatching(/shared belongs to mallory.*tony\.cache\.trusted-owners/),
    });
  });
});

describe("the memory of hashes", () => {
  test("forgets a file that changed, and does not keep one that changed just now", async () => {
    const file = join(base, "f");
    await writeFile(file, "1");
    const memo = await HashMemo.open(join(base, "memo"), later);
    const first = await memo.file(file);
    await memo.save();
    const reopened = await HashMemo.open(join(base, "memo"), later);
    expect(await reopened.file(file)).toEqual(first);
    await writeFile(file, "2");
    expect((await reopened.file(file)).sha256).not.toBe(first.sha256);
    const fresh = await HashMemo.open(join(base, "other"));
    await fresh.file(file);
    await fresh.save();
    expect(await readdir(base)).not.toContain("other");
  });

  test("survives a damaged file", async () => {
    await mkdir(join(base, "memo"));
    for (const text of ["{", "[]", '{"a":1}', '{"a":{"identity":"x","sha256":"zz","sizeBytes":1,"usedAtMs":1}}']) {
      await writeFile(join(base, "memo", "hashes.json"), text);
      expect((await HashMemo.open(join(base, "memo"))).find("a", "x")).toBeUndefined();
    }
  });
});

describe("pruning", () => {
  test("keeps what a live application names, what was used lately and what is somebody else's", async () => {
    const file = (path: string, owner: string, lastUseMs: number) => ({
      path,
      owner,
      lastUseMs,
      sha256: "",
      name: "",
      sizeBytes: 1,
      partial: false,
    });
    const day = 86_400_000;
    const files = [
      file("/old", "ada", 0),
      file("/live", "ada", 0),
      file("/bob", "bob", 0),
      file("/new", "ada", 10 * day - 1),
    ];
    const options = { user: "ada", live: new Set(["/live"]), unusedForMs: 0, nowMs: 10 * day };
    expect(prunable(files, options).map(({ path }) => path)).toEqual(["/old"]);
    const hour = 3_600_000;
    const aged = [2 * hour, 2 * hour + 1, 3 * day, 3 * day + 1].map((age) => file(`/${age}`, "ada", 10 * day - age));
    const after = (unusedForMs: number) => prunable(aged, { ...options, unusedForMs }).map(({ path }) => path);
    expect(after(0)).toEqual([`/${2 * hour + 1}`, `/${3 * day}`, `/${3 * day + 1}`]);
    expect(after(3 * day)).toEqual([`/${3 * day + 1}`]);
  });

  test("removes entries with their folders and says what that freed", async () => {
    const source = join(base, "node");
    await writeFile(source, "12345");
    const memo = await HashMemo.open(join(base, "memo"));
    await ship([{ link: "node", source, as: "file" }], { fileSystems, cache, memo });
    expect(await removeFromCache(cache, await listCache(cache))).toBe(5);
    expect(await readdir(join(cache.root, "sha256"))).toEqual([]);
  });

  test("learns from job.json what applications name, and which cannot be read", async () => {
    const folder = await StagingFolder.create(root, "application_1_0001", user);
    const files = ["hdfs://ns/cache/sha256/ab/node", "S3A://bucket/b", "train.py", "hdfs://ns"];
    const job = { files: { all: files.map((url) => ({ link: "node", url })) }, queue: null };
    await folder.write("job.json", Buffer.from(JSON.stringify(job)));
    const { paths, unreadable } = await liveReferences(root, ["application_1_0001", "application_1_0009"]);
    expect([...paths]).toEqual(["/cache/sha256/ab/node", "/b"]);
    expect(unreadable).toEqual([
      { applicationId: "application_1_0009", reason: expect.stringContaining("application_1_0009/job.json") },
    ]);
  });
});

describe("uploads that were broken off", () => {
  const gone = spawnSync("true").pid;

  async function upload(name: string, ageMs = 0): Promise<void> {
    const file = join(cache.root, "uploads", name);
    await mkdir(join(cache.root, "uploads"), { recursive: true });
    await writeFile(file, "half");
    await utimes(file, new Date(), new Date(Date.now() - ageMs));
  }
  const left = async () => (await listCache(cache)).map(({ name }) => name).sort();
  const day = 86_400_000;

  test("are removed once their submitter is gone, or after a day where that cannot be known", async () => {
    await upload(uploadName("gone.zip", { host: hostname(), pid: gone }));
    await upload(uploadName("under-way.zip"));
    await upload(uploadName("elsewhere.zip", { host: "ip-10-0-0-1", pid: gone }), day / 2);
    await upload(uploadName("old-elsewhere.zip", { host: "ip-10-0-0-1", pid: gone }), 2 * day);
    await upload("of another program");
    await upload("old, of another program", 2 * day);
    await cache.sweep(Date.now());
    expect(await left()).toEqual(["elsewhere.zip", "of another program", "under-way.zip"]);
  });

  test("are listed as unfinished and can be pruned, and their folder stays", async () => {
    await upload(uploadName("x-1-0123456789abcdef-y", { host: "h-1", pid: 2 }));
    const files = await listCache(cache);
    expect(files).toMatchObject([{ name: "x-1-0123456789abcdef-y", sha256: "", partial: true }]);
    expect(await removeFromCache(cache, files)).toBe(4);
    expect(await readdir(cache.root)).toEqual(["uploads"]);
  });

  test("are none in a cache that is not there yet", async () => {
    await expect(cache.sweep(Date.now())).resolves.toBeUndefined();
  });
});
