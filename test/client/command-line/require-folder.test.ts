import { expect, test } from "@jest/globals";
import { folderTrouble } from "../../../client/command-line/require-folder.ts";

test("that the current folder was removed is said as that, with the mend", () => {
  const failing = (code: string) => () => {
    throw Object.assign(new Error(`${code}: uv_cwd`), { code, syscall: "uv_cwd" });
  };
  expect(folderTrouble(failing("ENOENT"))).toBe(
    "the current folder no longer exists: it was removed or recreated since you entered it; change to another one (cd)",
  );
  expect(() => folderTrouble(failing("EACCES"))).toThrow("EACCES");
  expect(folderTrouble(() => "/home/ada")).toBeUndefined();
});
