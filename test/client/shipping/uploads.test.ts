import { expect, test } from "@jest/globals";
import { removeBrokenOff } from "../../../client/shipping/uploads.ts";

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
