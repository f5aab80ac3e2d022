import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { rehearse } from "../../../client/submission/rehearsal.ts";
import { bundleProgram } from "../../../scripts/bundle.mjs";

describe("a rehearsal", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tony-rehearsed-"));
  const own = process.env.TMPDIR;
  const programOf = (name: string) => path.join(folder, `${name}.cjs`);
  beforeAll(async () => {
    process.env.TMPDIR = folder;
    for (const name of ["am", "executor"]) {
      const { files } = await bundleProgram({
        entryPoints: [`${name}/main.ts`],
        outfile: programOf(name),
        define: { TONY_BUILD_ID: '"test"' },
        legalComments: "none",
      });
      for (const { path: file, contents } of files) writeFileSync(file, contents);
    }
  });
  afterAll(() => {
    if (own === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = own;
    rmSync(folder, { recursive: true });
  });

  test("runs both programs through a job, has each write what was compiled, and leaves nothing else", async () => {
    const cacheFolder = path.join(folder, "caches");
    mkdirSync(cacheFolder);
    await rehearse(cacheFolder, programOf);
    expect(readdirSync(cacheFolder).sort()).toEqual(["am.cjs.cache", "executor.cjs.cache"]);
    expect(readdirSync(folder).sort()).toEqual(["am.cjs", "caches", "executor.cjs"]);

    for (const name of ["am", "executor"]) {
      // Without a job it ends at once.
      const aborted = path.join(folder, "aborted");
      mkdirSync(aborted, { recursive: true });
      spawnSync(process.execPath, [programOf(name)], { env: { TONY_CODE_CACHE_FOLDER: aborted } });
      const sizeIn = (of: string) => statSync(path.join(of, `${name}.cjs.cache`)).size;
      expect(sizeIn(cacheFolder)).toBeGreaterThan(1.3 * sizeIn(aborted));
    }
  });
});
