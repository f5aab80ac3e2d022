import { mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { HashMemo } from "../../../client/shipping/hash-memo.ts";

const content = { sha256: "a".repeat(64), sizeBytes: 5 };
const MOST = 1_000;

let folder: string;
let nowMs: number;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "memo-"));
  nowMs = 10_000;
});
afterEach(() => rm(folder, { recursive: true }));

const open = () => HashMemo.open(folder, () => nowMs);

test("what is found is what was remembered of the same content, also by the next process", async () => {
  const memo = await open();
  memo.remember("/a", "1", content, 0);
  await memo.save();
  const next = await open();
  expect(next.find("/a", "1")).toEqual(content);
  expect(next.find("/a", "2")).toBeUndefined();
});

test("what changed a moment ago is not remembered: it may change again without a sign", async () => {
  const memo = await open();
  memo.remember("/a", "1", content, nowMs - 1_999);
  memo.remember("/b", "1", content, nowMs - 2_000);
  expect([memo.find("/a", "1"), memo.find("/b", "1")]).toEqual([undefined, content]);
});

test("of too many those that were used longest ago are forgotten", async () => {
  const memo = await open();
  for (let index = 0; index <= MOST; index += 1) {
    nowMs += 1;
    memo.remember(`/${index}`, "1", content, 0);
  }
  nowMs += 1;
  memo.find("/0", "1");
  await memo.save();
  const next = await open();
  expect(["/0", "/1", "/2", `/${MOST}`].filter((file) => next.find(file, "1") !== undefined)).toEqual([
    "/0",
    "/2",
    `/${MOST}`,
  ]);
});

test("is its user's alone, and is written only when there is something new", async () => {
  const memo = await open();
  const file = join(folder, "hashes.json");
  await memo.save();
  expect(await readdir(folder)).toEqual([]);
  memo.remember("/a", "1", content, 0);
  await memo.save();
  expect([await readdir(folder), (await stat(file)).mode & 0o777]).toEqual([["hashes.json"], 0o600]);
  await rm(file);
  await memo.save();
  expect(await readdir(folder)).toEqual([]);
  memo.find("/a", "1");
  await memo.save();
  expect(await readdir(folder)).toEqual(["hashes.json"]);
});

test("that cannot be written is no error, and leaves nothing half", async () => {
  await mkdir(join(folder, "hashes.json"));
  const memo = await open();
  memo.remember("/a", "1", content, 0);
  await memo.save();
  expect(await readdir(folder)).toEqual(["hashes.json"]);
});
