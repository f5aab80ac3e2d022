import { pbkdf2 } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import { describe, expect, test } from "@jest/globals";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { describeFileSystem } from "../../support/file-system-contract.ts";

describeFileSystem("the local disk", async () => {
  const folder = await mkdtemp(join(tmpdir(), "local-fs-"));
  return { fileSystem: new LocalFileSystem(), folder, dispose: () => rm(folder, { recursive: true }) };
});

describe("the local disk", () => {
  test("is named to YARN by file URLs", () => {
    expect(new LocalFileSystem().resourceUrl("/a/b")).toEqual({ scheme: "file", host: "", port: -1, path: "/a/b" });
  });
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
