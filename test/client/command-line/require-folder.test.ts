import { expect, test } from "@jest/globals";
import { folderTrouble } from "../../../client/command-line/require-folder.ts";

test("that the current folder was removed is said as that, with the mend", () => {
  const failing = (code: string) => () => {
    throw Object.assign(new Error(`${code}: uv_cwd`), { code, syscall: "uv_cwd" });
  };
  expect(folderTrouble(failing("ENOENT"))).toBe(
    "the current folder is gone: it was removed, or made anew, since you went there; go to one that exists (cd)",
  );
  expect(() => folderTrouble(failing("EACCES"))).toThrow("EACCES");
  expect(folderTrouble(() => "/home/ada")).toBeUndefined();
});
