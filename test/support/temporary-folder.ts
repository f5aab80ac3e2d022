import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach } from "@jest/globals";

/** A folder of its own for each test of the file or `describe` that calls this, gone after it. */
export function temporaryFolder(): { readonly path: string } {
  const folder = { path: "" };
  beforeEach(() => {
    folder.path = mkdtempSync(path.join(tmpdir(), "tony-test-"));
  });
  afterEach(() => rmSync(folder.path, { recursive: true, force: true }));
  return folder;
}
