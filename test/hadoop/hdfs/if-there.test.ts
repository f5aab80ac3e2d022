import { expect, test } from "@jest/globals";
import { FileSystemError, type FileSystemErrorCode } from "../../../src/hadoop/hdfs/errors.ts";
import { ifThere, listIfThere } from "../../../src/hadoop/hdfs/if-there.ts";

const failing = (code: FileSystemErrorCode) => Promise.reject(new FileSystemError("STAT /a", { code, path: "/a" }));

test("what is not there is undefined, and a folder that is not there holds nothing", async () => {
  expect(await ifThere(Promise.resolve("content"))).toBe("content");
  expect(await ifThere(failing("FILE_NOT_FOUND"))).toBeUndefined();
  expect(await listIfThere({ list: async () => ["b"] }, "/a")).toEqual(["b"]);
  expect(await listIfThere({ list: () => failing("FILE_NOT_FOUND") }, "/a")).toEqual([]);
});

test("any other error is no answer", async () => {
  await expect(ifThere(failing("STANDBY"))).rejects.toMatchObject({ code: "STANDBY" });
  await expect(listIfThere({ list: () => failing("ACCESS_DENIED") }, "/a")).rejects.toMatchObject({
    code: "ACCESS_DENIED",
  });
});
