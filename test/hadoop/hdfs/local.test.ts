import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
