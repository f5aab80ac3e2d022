import { describe, expect, test } from "@jest/globals";
import { isShared } from "../../src/job/shared-path.ts";

describe("a checkpoint", () => {
  test.each([
    ["hdfs:///ckpt/7", undefined, true],
    ["s3://bucket/ckpt/7", undefined, true],
    ["/mnt/nfs/ckpt/7", "/mnt/nfs/ckpt", true],
    ["/mnt/nfs/ckpt/7", "file:///mnt/nfs/ckpt/", true],
    ["file:///mnt/nfs/ckpt/7", "/mnt/nfs/ckpt", true],
    ["/mnt/nfs/ckpt-of-another/7", "/mnt/nfs/ckpt", false],
    ["/mnt/nfs/ckpt/../7", "/mnt/nfs/ckpt", false],
    ["/tmp/container_1/ckpt/7", "hdfs:///ckpt", false],
    ["/tmp/container_1/ckpt/7", undefined, false],
    ["file:///tmp/7", undefined, false],
    ["ckpt/7", "ckpt", false],
  ])("%s, with the shared folder %s: every task can read it: %s", (path, folder, expected) => {
    expect(isShared(path, folder)).toBe(expected);
  });
});
