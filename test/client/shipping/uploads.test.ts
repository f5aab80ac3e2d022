import { describe, expect, test } from "@jest/globals";
import { listIfThere, listOrNothing, removeBrokenOff } from "../../../client/shipping/uploads.ts";
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

describe("a folder of a cache", () => {
  const refusing = (code: "FILE_NOT_FOUND" | "ACCESS_DENIED") => ({
    list: () => Promise.reject(new FileSystemError(`LISTSTATUS /cache: ${code}`, { code })),
  });

  test("that is not there holds nothing", async () => {
    expect(await listIfThere(refusing("FILE_NOT_FOUND"), "/cache")).toEqual([]);
    expect(await listOrNothing(refusing("FILE_NOT_FOUND"), "/cache")).toEqual([]);
  });

  test("that is closed is not taken for an empty one, unless nothing of it concerns us", async () => {
    await expect(listIfThere(refusing("ACCESS_DENIED"), "/cache")).rejects.toMatchObject({ code: "ACCESS_DENIED" });
    expect(await listOrNothing(refusing("ACCESS_DENIED"), "/cache")).toEqual([]);
  });
});
