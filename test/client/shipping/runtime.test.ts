import { chmod, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { versionOf } from "../../../client/shipping/runtime.ts";

const running = process.execPath;
let other: string;

beforeEach(async () => {
  other = path.join(await mkdtemp(path.join(tmpdir(), "tony-runtime-")), "node");
});

afterEach(async () => {
  await rm(path.dirname(other), { recursive: true });
});

test("the version of a runtime that is sent is what it says of itself", async () => {
  await writeFile(other, "#!/bin/sh\necho v24.19.0\n");
  await chmod(other, 0o755);
  expect(await versionOf({ kind: "send", path: other }, running)).toBe("v24.19.0");
  expect(await versionOf({ kind: "send", path: await realpath(running) }, running)).toBe(process.version);
});

test("nothing is known of one that does not run here, or that is elsewhere", async () => {
  await writeFile(other, "built for another machine");
  expect(await versionOf({ kind: "send", path: other }, running)).toBeUndefined();
  expect(await versionOf({ kind: "stored", url: "hdfs:///node" }, running)).toBeUndefined();
  expect(await versionOf({ kind: "installed", path: "/opt/node" }, running)).toBeUndefined();
});
