import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { packageRoot } from "../../src/programs.ts";

/** A program bundled from its present sources, for a test that runs it in a process of its own. */
export class TestBundle {
  readonly #folder = mkdtempSync(path.join(tmpdir(), "tony-bundle-"));
  readonly file: string;

  constructor(entry: string) {
    const root = packageRoot();
    this.file = path.join(this.#folder, `${path.dirname(entry)}.cjs`);
    execFileSync(
      path.join(root, "node_modules/esbuild/bin/esbuild"),
      [
        entry,
        "--bundle",
        "--format=cjs",
        "--platform=node",
        "--target=node20.19",
        "--minify-whitespace",
        "--minify-syntax",
        '--banner:js=const __url = require("node:url").pathToFileURL(__filename).href;',
        "--define:import.meta.url=__url",
        '--define:TONY_BUILD_ID="test"',
        "--external:kerberos",
        "--external:koffi",
        "--log-level=error",
        `--outfile=${this.file}`,
      ],
      { cwd: root },
    );
    if (!existsSync(this.file)) throw new Error(`${entry} was not bundled`);
  }

  get content(): string {
    return readFileSync(this.file, "utf8");
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
