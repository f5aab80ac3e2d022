import { expect, test } from "@jest/globals";
import { listOrNothing, removeBrokenOff } from "../../../client/shipping/uploads.ts";
import { FileSystemError } from "../../../src/hadoop/hdfs/errors.ts";

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

test.each(["FILE_NOT_FOUND", "ACCESS_DENIED"] as const)(
  "a folder of a cache holds nothing of ours: %s",
  async (code) => {
    const list = () => Promise.reject(new FileSystemError(`LISTSTATUS /cache: ${code}`, { code }));
    expect(await listOrNothing({ list }, "/cache")).toEqual([]);
  },
);
