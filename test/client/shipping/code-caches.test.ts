import { chmod, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
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
    rehearsals.length = 0;
    for (const name of ["am", "executor"]) await writeFile(programOf(name), "");
  });
  afterEach(() => rm(folder, { recursive: true }));

  const programOf = (name: string) => path.join(folder, `${name}.cjs`);
  const rehearsals: string[] = [];
  /** Programs that write what they are called. */
  const rehearse = async (cacheFolder: string) => {
    rehearsals.push(cacheFolder);
    for (const name of ["am", "executor"]) await writeFile(path.join(cacheFolder, `${name}.cjs.cache`), name);
  };
  const options = () => ({ running: runtime, folder, programOf, rehearse });
  const sent = () => ({ kind: "send", path: runtime }) as const;
  const listed = () => readdir(path.join(folder, "code"));

  test("is what they write in a rehearsal, made once and kept for their user alone", async () => {
    const made = await codeCachesFor(sent(), options());
    expect(await readFile(made.am ?? "", "utf8")).toBe("am");
    expect(await readFile(made.executor ?? "", "utf8")).toBe("executor");
    const { mode } = await stat(made.am ?? "");
    expect(mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(["am.cjs", "code", "executor.cjs"]);
    await expect(stat(rehearsals[0] ?? "")).rejects.toMatchObject({ code: "ENOENT" });

    await utimes(made.am ?? "", 0, new Date());
    const { mtimeNs } = await stat(made.am ?? "", { bigint: true });
    expect(await codeCachesFor(sent(), options())).toEqual(made);
    expect(rehearsals).toHaveLength(1);
    const { mtimeNs: madeAtNs, atimeMs } = await stat(made.am ?? "", { bigint: true });
    expect(madeAtNs).toBe(mtimeNs);
    expect(atimeMs > 0n).toBe(true);
  });

  test("is not made where nothing may be started; what is there is used", async () => {
    const { rehearse: _rehearse, ...looking } = options();
    expect(await codeCachesFor(sent(), looking)).toEqual({});
    await expect(listed()).rejects.toMatchObject({ code: "ENOENT" });
    const made = await codeCachesFor(sent(), options());
    expect(await codeCachesFor(sent(), looking)).toEqual(made);
    const link = path.join(folder, "link");
    await symlink(runtime, link);
    expect(await codeCachesFor(sent(), { ...looking, running: link })).toEqual(made);
  });

  test("is made anew for a program that was installed anew, and what is there of the other stays", async () => {
    const made = await codeCachesFor(sent(), options());
    const { ino } = await stat(made.am ?? "", { bigint: true });
    await writeFile(programOf("executor"), "of another release");
    const again = await codeCachesFor(sent(), options());
    expect(again.am).toBe(made.am);
    expect((await stat(again.am ?? "", { bigint: true })).ino).toBe(ino);
    expect(again.executor).not.toBe(made.executor);
    expect(await readFile(again.executor ?? "", "utf8")).toBe("executor");
  });

  test("is made anew for a runtime that was installed anew where the other was", async () => {
    const node = path.join(folder, "node");
    await writeFile(node, "v20");
    const made = await codeCachesFor({ kind: "send", path: node }, { ...options(), running: node });
    await writeFile(node, "v24");
    const again = await codeCachesFor({ kind: "send", path: node }, { ...options(), running: node });
    expect(Object.keys(again)).toEqual(["am", "executor"]);
    expect([again.am, again.executor]).not.toContain(made.am);
    expect([again.am, again.executor]).not.toContain(made.executor);
    expect(rehearsals).toHaveLength(2);
  });

  test("is not made for a runtime that does not run here, nor with one that a job names", async () => {
    for (const choice of [
      { kind: "installed", path: runtime },
      { kind: "stored", url: "hdfs://ns/node" },
      { kind: "send", path: path.join(folder, "node") },
    ] as const)
      expect(await codeCachesFor(choice, options())).toEqual({});
    await expect(listed()).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is not taken where others could have changed it", async () => {
    const made = await codeCachesFor(sent(), options());
    await chmod(made.am ?? "", 0o620);
    expect(await codeCachesFor(sent(), options())).toEqual({ executor: made.executor });
  });

  test.each([
    ["the rehearsal fails", () => Promise.reject(new Error("no bash"))],
    ["the programs write nothing", () => Promise.resolve()],
  ])("is done without where %s", async (_when, failing) => {
    expect(await codeCachesFor(sent(), { ...options(), rehearse: failing })).toEqual({});
  });
});
