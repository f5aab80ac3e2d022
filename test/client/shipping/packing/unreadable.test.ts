import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { TestBundle } from "../../../support/bundle.ts";

const bundle = new TestBundle("client/shipping/packing/packing.ts");
const folder = mkdtempSync(path.join(tmpdir(), "unreadable-"));
afterAll(() => {
  bundle.remove();
  rmSync(folder, { recursive: true });
});

/** Root reads everything, whatever the mode says; without these rights it is as any other user. */
const asOthers =
  process.getuid?.() === 0
    ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search", process.execPath]
    : [process.execPath];

const program = `
const { packingForOthers } = require(process.argv[1]);
packingForOthers(process.argv[2], "working-directory").catch((error) => console.log(error.code, error.message));
`;

test("a file that cannot be read is refused before anything of the folder is packed", () => {
  writeFileSync(path.join(folder, "secret"), "s");
  chmodSync(path.join(folder, "secret"), 0);
  const [node = "", ...words] = [...asOthers, "-e", program, bundle.file, folder];
  expect(execFileSync(node, words, { encoding: "utf8" })).toBe(
    `UNPACKABLE_ENTRY ${folder}/secret cannot be read (EACCES): let yourself read it, or remove it from the folder that is sent to the containers\n`,
  );
});
