// Writes the pages that are generated from the source: docs/reference/keys.md, docs/reference/variables.md, docs/reference/reasons.md,
// docs/reference/json.md, docs/reference/doors.md, docs/states.md and the table of suites in CONTRIBUTING.md. Unit tests fail when one of
// them is stale.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { jsonPage } from "./json-page.mjs";
import { replaceFile } from "./replace-file.mjs";
import { readMeasured } from "./test/measured.mjs";
import { phases } from "./test/phases.mjs";
import { suiteMarkdown, withSuites } from "./test/suite-table.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** @type {readonly (readonly [source: string, exported: string, page: string])[]} */
const pages = [
  ["src/job/keys-page.ts", "keysPage", "docs/reference/keys.md"],
  ["src/job/reasons/reasons-page.ts", "reasonsPage", "docs/reference/reasons.md"],
  ["scripts/doors-page.mjs", "doorsPage", "docs/reference/doors.md"],
  ["src/frameworks/variables-page.ts", "variablesPage", "docs/reference/variables.md"],
  ["scripts/states-page.ts", "statesPage", "docs/states.md"],
];

replaceFile(path.join(root, "docs/reference/json.md"), jsonPage(root));
const contributing = path.join(root, "CONTRIBUTING.md");
replaceFile(contributing, withSuites(readFileSync(contributing, "utf8"), suiteMarkdown(phases, readMeasured())));

// CommonJS packages load Node's modules with `require`.
const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' };

const folder = mkdtempSync(path.join(tmpdir(), "tony-docs-"));
try {
  for (const [source, exported, page] of pages) {
    const outfile = path.join(folder, `${exported}.mjs`);
    const entryPoints = [path.join(root, source)];
    await build({ entryPoints, outfile, bundle: true, format: "esm", platform: "node", banner });
    const module = await import(pathToFileURL(outfile).href);
    replaceFile(path.join(root, page), module[exported]());
  }
} finally {
  rmSync(folder, { recursive: true });
}
