import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { packingFault, packingPlace } from "../../../../client/shipping/packing/packing-place.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();

test("each packing has a folder of its own, which its user alone may read", async () => {
  const places = [await packingPlace(folder.path), await packingPlace(folder.path)];
  expect(new Set(places).size).toBe(2);
  for (const place of places) expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(existsSync(path.join(folder.path, "tony-ts-"))).toBe(false);
});

test("where none can be made, TMPDIR is named", async () => {
  const gone = path.join(folder.path, "gone");
  await expect(packingPlace(gone)).rejects.toMatchObject({
    code: "NO_TEMPORARY_FOLDER",
    message: expect.stringMatching(
      new RegExp(`^no folder can be made in ${gone}, .* \\(ENOENT.*\\): set TMPDIR to a folder with room for it$`),
    ),
    cause: expect.objectContaining({ code: "ENOENT" }),
  });
});

test.each(["ENOSPC", "EDQUOT"])("a full disk is told as one: %s", (code) => {
  const cause = Object.assign(new Error("write"), { code });
  expect(packingFault(cause, "/tmp/a/archive")).toMatchObject({
    code: "DISK_FULL",
    message: expect.stringMatching(/^the disk of \/tmp\/a, .* is full: free some, or set TMPDIR/),
    cause,
  });
});

test("any other fault stays what it is", () => {
  const fault = Object.assign(new Error("read"), { code: "EIO" });
  expect(packingFault(fault, "/tmp/a/archive")).toBe(fault);
});
