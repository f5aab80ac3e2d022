import { chmod, mkdtemp, readdir, readFile, realpath, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { codeCachesFor } from "../../../client/shipping/code-caches.ts";

describe("the compiled code of the programs", () => {
  let folder = "";
  let runtime = "";
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tony-code-"));
    runtime = await realpath(process.execPath);
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Programs that leave what they were started with where their compiled code is looked for. */
  async function programs(code: string): Promise<(name: string) => string> {
    for (const name of ["am", "executor"]) await writeFile(path.join(folder, `${name}.mjs`), code);
    return (name) => path.join(folder, `${name}.mjs`);
  }
  const writes = `
    import { mkdirSync, writeFileSync } from "node:fs";
    import path from "node:path";
    mkdirSync(path.dirname(process.argv[3]), { recursive: true });
    writeFileSync(process.argv[3], JSON.stringify({ options: process.execArgv, names: Object.keys(process.env) }), { mode: 0o600 });
    process.exit(1);
  `;
  const listed = () => readdir(path.join(folder, "code"));

  test("is made by the runtime, started as in a container but without a job, once", async () => {
    const programOf = await programs(writes);
    const made = await codeCachesFor({ kind: "send", path: runtime }, { running: runtime, folder, programOf });
    expect(Object.keys(made).sort()).toEqual(["am", "executor"]);
    const am = JSON.parse(await readFile(made.am ?? "", "utf8"));
    expect(am).toEqual({ options: ["--max-semi-space-size=2"], names: [] });

    await utimes(made.am ?? "", 0, new Date());
    const { mtimeNs } = await stat(made.am ?? "", { bigint: true });
    const again = await codeCachesFor({ kind: "send", path: runtime }, { running: runtime, folder, programOf });
    expect(again).toEqual(made);
    const { mtimeNs: madeAtNs, atimeMs } = await stat(made.am ?? "", { bigint: true });
    expect(madeAtNs).toBe(mtimeNs);
    expect(atimeMs > 0n).toBe(true);
  });

  test("is not made for a runtime that does not run here, nor with one that a job names", async () => {
    const programOf = await programs(writes);
    const options = { running: runtime, folder, programOf };
    for (const choice of [
      { kind: "installed", path: runtime },
      { kind: "stored", url: "hdfs://ns/node" },
      { kind: "send", path: path.join(folder, "node") },
    ] as const)
      expect(await codeCachesFor(choice, options)).toEqual({});
    await expect(listed()).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is not taken where others could have changed it", async () => {
    const options = { running: runtime, folder, programOf: await programs(writes) };
    const made = await codeCachesFor({ kind: "send", path: runtime }, options);
    await chmod(made.am ?? "", 0o620);
    expect(await codeCachesFor({ kind: "send", path: runtime }, options)).toEqual({ executor: made.executor });
  });

  test("is done without where it cannot be made", async () => {
    const programOf = await programs("process.exit(1);");
    expect(await codeCachesFor({ kind: "send", path: runtime }, { running: runtime, folder, programOf })).toEqual({});
  });
});
