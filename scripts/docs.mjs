// Writes the pages that are made from the source: docs/keys.md. A unit test says when one of them is stale.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

const folder = mkdtempSync(path.join(tmpdir(), "tony-docs-"));
try {
  const outfile = path.join(folder, "keys-page.mjs");
  const entryPoints = [path.join(root, "src/job/keys-page.ts")];
  await build({ entryPoints, outfile, bundle: true, format: "esm", platform: "node" });
  const { keysPage } = await import(pathToFileURL(outfile).href);
  writeFileSync(path.join(root, "docs/keys.md"), keysPage());
} finally {
  rmSync(folder, { recursive: true });
}
