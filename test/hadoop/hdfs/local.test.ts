import { pbkdf2 } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { describeFileSystem } from "../../support/file-system-contract.ts";

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
