import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { countLinks, repackZip } from "../../../../client/shipping/packing/repack-zip.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeZip } from "../../../support/zip-writer.ts";

const folder = temporaryFolder();

test("a zip that is packed again has its empty folders, and the modes and times of its files", async () => {
  const zip = path.join(folder.path, "a.zip");
  writeFileSync(
    zip,
    writeZip([
      { path: "empty/", mode: 0o040750 },
      { path: "lib/a.py", mode: 0o100640, content: "pass\n" },
    ]),
  );
  await repackZip(zip, path.join(folder.path, "a.tar.gz"));
  const unpacked = path.join(folder.path, "unpacked");
  mkdirSync(unpacked);
  execFileSync("tar", ["-xzf", path.join(folder.path, "a.tar.gz"), "-C", unpacked]);
  expect(lstatSync(path.join(unpacked, "empty")).isDirectory()).toBe(true);
  expect(lstatSync(path.join(unpacked, "empty")).mode & 0o777).toBe(0o750);
  expect(readFileSync(path.join(unpacked, "lib/a.py"), "utf8")).toBe("pass\n");
  const { mode, mtime } = lstatSync(path.join(unpacked, "lib/a.py"));
  expect([mode & 0o777, mtime.getFullYear()]).toEqual([0o640, 1980]);
});

test("that the file system does not answer is not the zip's fault", async () => {
  const fault = Object.assign(new Error("no answer"), { code: "TIMEOUT" });
  const read = () => Promise.reject(fault);
  await expect(countLinks("hdfs:///a.zip", { lengthBytes: 1_000, read })).rejects.toBe(fault);
});
