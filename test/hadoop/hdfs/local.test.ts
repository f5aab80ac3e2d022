import { pbkdf2 } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { ownerHome, ownerName } from "../../../src/hadoop/process-owner.ts";
import { eventually } from "../../support/eventually.ts";
import { describeFileSystem } from "../../support/file-system-contract.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

describeFileSystem("the local disk", async () => {
  const folder = await mkdtemp(join(tmpdir(), "local-fs-"));
  return { fileSystem: new LocalFileSystem(), folder, dispose: () => rm(folder, { recursive: true }) };
});

test("the local disk is named to YARN by file URLs", () => {
  expect(new LocalFileSystem().resourceUrl("/a/b")).toEqual({ scheme: "file", host: "", port: -1, path: "/a/b" });
});

test("a file is read as it is, whether it is small or large, whole or a part of it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "local-"));
  const fileSystem = new LocalFileSystem();
  for (const length of [65_536, 300_000]) {
    const content = Buffer.from(Array.from({ length }, (_value, index) => index % 251));
    const file = join(folder, String(length));
    await fileSystem.create(file, content, { permission: 0o644 });
    const read = async (options: { readonly offset?: number; readonly lengthBytes?: number }) =>
      Buffer.concat(await (await fileSystem.open(file, options)).toArray());
    expect((await read({})).equals(content)).toBe(true);
    expect(await read({ offset: length - 3, lengthBytes: 9 })).toEqual(content.subarray(-3));
    expect(await read({ offset: 7, lengthBytes: 2 })).toEqual(content.subarray(7, 9));
    expect((await read({ offset: 7, lengthBytes: 65_537 })).equals(content.subarray(7, 65_544))).toBe(true);
    expect(await read({ offset: length, lengthBytes: 2 })).toHaveLength(0);
    expect(await fileSystem.list(file)).toMatchObject([{ path: file, lengthBytes: length }]);
  }
  await rm(folder, { recursive: true });
});

test("what failed to be written does not come back once it is removed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "local-"));
  const file = join(folder, "half");
  const fileSystem = new LocalFileSystem();
  const busy: Promise<unknown>[] = [];
  const open = () => {
    // As on a busy machine, whose disk comes to the file later than to anything else.
    for (let thread = 0; thread < 8; thread += 1) busy.push(promisify(pbkdf2)("", "", 100_000, 8, "sha512"));
    return new Readable({ read: () => undefined }).destroy(new Error("unreadable"));
  };
  await expect(fileSystem.create(file, { lengthBytes: 1, open }, { permission: 0o644 })).rejects.toThrow("unreadable");
  rmSync(file, { force: true });
  await Promise.all(busy);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(existsSync(file)).toBe(false);
  await rm(folder, { recursive: true });
});

describe("the local disk", () => {
  const folder = temporaryFolder();
  const fileSystem = new LocalFileSystem();
  const at = (name: string) => join(folder.path, name);
  const write = (name: string, content = "x", mode = 0o644) => {
    writeFileSync(at(name), content, { mode });
    return at(name);
  };

  test("has the home that it is given, else the user's own", async () => {
    expect(await new LocalFileSystem("/home/ada").homeDirectory()).toBe("/home/ada");
    expect(await fileSystem.homeDirectory()).toBe(ownerHome());
  });

  test("says of a file all that the system does", async () => {
    const file = write("f", "12345");
    utimesSync(file, 1_000, 2_000);
    chmodSync(file, 0o1644);
    expect(await fileSystem.stat(file)).toEqual({
      path: file,
      type: "FILE",
      lengthBytes: 5,
      modificationTimeMs: 2_000_000,
      accessTimeMs: 1_000_000,
      permission: 0o1644,
      owner: ownerName(),
      group: String(process.getgid?.()),
    });
  });

  test("sets one time and leaves the other", async () => {
    const file = write("f");
    utimesSync(file, 1_000, 2_000);
    await fileSystem.setTimes(file, { modificationTimeMs: 3_000_001 });
    expect(await fileSystem.stat(file)).toMatchObject({ accessTimeMs: 1_000_000, modificationTimeMs: 3_000_001 });
    await fileSystem.setTimes(file, { accessTimeMs: 4_000_001 });
    expect(await fileSystem.stat(file)).toMatchObject({ accessTimeMs: 4_000_001, modificationTimeMs: 3_000_001 });
  });

  test("lists what there is, without what a name leads to nowhere", async () => {
    for (const name of ["b", "a", "c"]) write(name);
    symlinkSync(at("nowhere"), at("dangling"));
    expect((await fileSystem.list(folder.path)).map(({ path }) => path)).toEqual([at("a"), at("b"), at("c")]);
  });

  test("removes a link, not the folder behind it", async () => {
    mkdirSync(at("folder"));
    symlinkSync(at("folder"), at("link"));
    expect(await fileSystem.delete(at("link"))).toBe(true);
    expect(readdirSync(folder.path)).toEqual(["folder"]);
    expect(await fileSystem.delete(at("folder"))).toBe(true);
  });

  test("leaves nothing under the old name, and moves a link that leads nowhere as it is", async () => {
    symlinkSync(at("nowhere"), at("link"));
    expect(await fileSystem.rename(at("link"), at("moved"))).toBe(true);
    expect(await fileSystem.rename(write("f"), at("g"))).toBe(true);
    expect(readdirSync(folder.path).sort()).toEqual(["g", "moved"]);
    await expect(fileSystem.rename(at("g"), "relative")).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("makes a folder that others make too", async () => {
    await Promise.all(Array.from({ length: 8 }, () => fileSystem.mkdirs(at("a/b/c"), 0o750)));
    expect((await fileSystem.stat(at("a/b"))).permission).toBe(0o750);
  });

  test.each([
    ["a loop of links", () => fileSystem.stat(at("loop")), "REMOTE"],
    ["a name longer than any can be", () => fileSystem.stat(at("x".repeat(300))), "INVALID_REQUEST"],
    ["writing where a folder is", () => create(folder.path), "INVALID_REQUEST"],
    ["reading a folder", () => fileSystem.open(folder.path), "FILE_NOT_FOUND"],
    ["a file among the folders", () => fileSystem.stat(`${write("f")}/x`), "NOT_A_DIRECTORY"],
    ["a full disk", () => fileSystem.append("/dev/full", Buffer.from("x")), "NO_SPACE"],
    ["entries below a file", () => fileSystem.checkWritable(write("f")), "ACCESS_DENIED"],
  ])("refuses %s", async (_what, ask, code) => {
    symlinkSync(at("loop"), at("loop"));
    await expect(ask()).rejects.toMatchObject({ name: "FileSystemError", code, operation: expect.any(String) });
  });
  const create = (path: string) => fileSystem.create(path, Buffer.from("x"), { permission: 0o644, overwrite: true });

  test("stops writing and reading when the caller gives up", async () => {
    const caller = new AbortController();
    const endless = { open: () => new Readable({ read: () => undefined }) };
    const { signal } = caller;
    const writes: Promise<unknown>[] = [
      fileSystem.create(at("new"), endless, { permission: 0o644, signal }),
      fileSystem.append(write("old"), endless, { signal }),
    ];
    const stream = await fileSystem.open(write("large", "x".repeat(1_000_000)), { signal });
    const ends = Promise.all([...writes, stream.toArray()].map((end) => end.catch((error: unknown) => error)));
    caller.abort();
    const ended = (operation: string) => expect.objectContaining({ name: "FileSystemError", operation });
    expect(await ends).toEqual([ended("CREATE"), ended("APPEND"), ended("OPEN")]);
  });

  test("keeps no file open that is read to its end, or given up", async () => {
    const small = write("small");
    await (await fileSystem.open(small)).toArray();
    const large = write("large", "x".repeat(1_000_000));
    for await (const _ of await fileSystem.open(large)) break;
    const opened = () =>
      readdirSync("/proc/self/fd").filter((number) => {
        try {
          return readlinkSync(`/proc/self/fd/${number}`).startsWith(folder.path);
        } catch {
          return false;
        }
      });
    await eventually("all files to be closed", () => opened().length === 0, 5_000);
    expect(opened()).toEqual([]);
  });
});
