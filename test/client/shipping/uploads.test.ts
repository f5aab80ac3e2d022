import { hostname } from "node:os";
import { afterEach, expect, jest, test } from "@jest/globals";
import { listOrNothing, removeBrokenOff, sweepUploads, uploadName } from "../../../client/shipping/uploads.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";
import type { FileStatus } from "../../../src/hadoop/hdfs/file-system.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";

afterEach(() => {
  jest.useRealTimers();
});

test("what an upload that was broken off has left is looked for three times, for a second, whatever is answered", async () => {
  jest.useFakeTimers();
  const answers = [Promise.resolve(false), Promise.reject(new Error("HDFS is away")), Promise.resolve(false)];
  let looks = 0;
  const removed = removeBrokenOff({ delete: () => answers[looks++] ?? Promise.resolve(true) }, "/cache/uploads/a");
  const looked: number[] = [];
  for (const ms of [0, 249, 1, 749, 1]) {
    await jest.advanceTimersByTimeAsync(ms);
    looked.push(looks);
  }
  await removed;
  expect(looked).toEqual([1, 1, 2, 2, 3]);
});

test("what a slow DataNode makes of an upload that was broken off already is removed too", async () => {
  let looks = 0;
  const removed: string[] = [];
  const fileSystem = {
    delete: async (file: string) => {
      looks += 1;
      if (looks < 2) return false;
      removed.push(file);
      return true;
    },
  };
  await removeBrokenOff(fileSystem, "/cache/uploads/a");
  expect(removed).toEqual(["/cache/uploads/a"]);
  expect(looks).toBe(2);
});

test.each([
  [10_000, 1],
  [10_001, 0],
])(
  "a folder of %i files, which anybody may have put there, is listed by a submission %i times",
  async (entries, times) => {
    let lists = 0;
    class Filled extends LocalFileSystem {
      override async stat(file: string): Promise<FileStatus> {
        return { ...(await super.stat("/tmp")), path: file, entries };
      }
      override async list(): Promise<FileStatus[]> {
        lists += 1;
        return [];
      }
    }
    await sweepUploads(new Filled(), "/cache", { user: "alice", nowMs: 0 });
    expect(lists).toBe(times);
  },
);

test("only what the user uploads is swept, whoever is at work", async () => {
  const removed: string[] = [];
  const name = (owner: string) => uploadName(`${owner}.zip`, { host: hostname(), pid: 2 ** 22 + 1 });
  const files = ["alice", "bob"].map((owner) => ({ owner, path: `/cache/uploads/${name(owner)}` }));
  class Shared extends LocalFileSystem {
    override async stat(file: string): Promise<FileStatus> {
      return { ...(await super.stat("/tmp")), path: file };
    }
    override async list(): Promise<FileStatus[]> {
      return await Promise.all(files.map(async (file) => ({ ...(await super.stat("/tmp")), ...file })));
    }
    override async delete(file: string): Promise<boolean> {
      removed.push(file);
      return true;
    }
  }
  await sweepUploads(new Shared(), "/cache", { user: "alice", nowMs: 0 });
  expect(removed).toEqual([files[0]?.path]);
});

test.each(["FILE_NOT_FOUND", "ACCESS_DENIED"] as const)(
  "a folder of a cache holds nothing of ours: %s",
  async (code) => {
    const list = () => Promise.reject(new FileSystemError(`LISTSTATUS /cache: ${code}`, { code }));
    expect(await listOrNothing({ list }, "/cache")).toEqual([]);
  },
);

test("a folder of a cache that does not answer is not empty", async () => {
  const list = () => Promise.reject(new FileSystemError("LISTSTATUS /cache: no answer", { code: "TIMEOUT" }));
  await expect(listOrNothing({ list }, "/cache")).rejects.toMatchObject({ code: "TIMEOUT" });
});
