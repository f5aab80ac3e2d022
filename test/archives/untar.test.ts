import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { untar } from "../../src/archives/untar.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const base = temporaryFolder();
let target: string;

beforeEach(() => {
  target = path.join(base.path, "target");
  mkdirSync(target);
});

function packed(name: string, bytes: number, ...options: string[]): string {
  const source = path.join(base.path, "source");
  mkdirSync(source);
  writeFileSync(path.join(source, "run"), Buffer.alloc(bytes, "x"), { mode: 0o755 });
  const archive = path.join(base.path, name);
  execFileSync("tar", ["-cf", archive, ...options, "-C", source, "."]);
  return archive;
}

describe.each([
  ["as it is", "a.tar", []],
  ["compressed", "a.tar.gz", ["-z"]],
])("a tar, %s", (_how, name, options) => {
  test("is unpacked with its permissions", async () => {
    await untar(packed(name, 100_000, ...options), target);
    expect(readFileSync(path.join(target, "run"), "utf8")).toBe("x".repeat(100_000));
    expect(statSync(path.join(target, "run")).mode & 0o777).toBe(0o755);
  });

  test("is not unpacked beyond what there is room for", async () => {
    const archive = packed(name, 2_000_000, ...options);
    await expect(untar(archive, target, { mostBytes: 1_048_576 })).rejects.toMatchObject({
      code: "LOCALIZATION",
      message: `${archive} could not be unpacked: it holds more than the 1 MiB that there is room for`,
    });
    const written = readdirSync(target).map((file) => statSync(path.join(target, file)).size);
    expect(written.reduce((sum, size) => sum + size, 0)).toBeLessThan(1_048_577);
  });
});

test("what is no archive, or ends too early, is told by what reads it", async () => {
  const archive = packed("a.tar.gz", 100_000, "-z");
  writeFileSync(archive, readFileSync(archive).subarray(0, 60));
  await expect(untar(archive, target)).rejects.toMatchObject({ code: "LOCALIZATION" });
  writeFileSync(archive, "no archive".repeat(100));
  await expect(untar(archive, target)).rejects.toMatchObject({ code: "LOCALIZATION" });
  await expect(untar(path.join(base.path, "none.tar"), target)).rejects.toMatchObject({ code: "LOCALIZATION" });
});
