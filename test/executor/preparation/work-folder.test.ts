import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { WorkFolder } from "../../../executor/preparation/work-folder.ts";

describe("a working directory that another task gets", () => {
  let folder = "";
  let shared = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tony-work-"));
    shared = mkdtempSync(path.join(tmpdir(), "tony-shared-"));
    writeFileSync(path.join(shared, "inside"), "");
    writeFileSync(path.join(folder, "container_tokens"), "");
    symlinkSync(shared, path.join(folder, "archive"));
    mkdirSync(path.join(folder, "conf"));
    symlinkSync(path.join(shared, "inside"), path.join(folder, "conf/settings"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
    rmSync(shared, { recursive: true });
  });
  const names = () => (readdirSync(folder, { recursive: true }) as string[]).sort();

  test("is left as it was found; what links lead to is not touched", async () => {
    const work = await WorkFolder.of(folder);
    const before = names();
    mkdirSync(path.join(folder, "data/deep"), { recursive: true });
    writeFileSync(path.join(folder, "data/deep/left"), "");
    writeFileSync(path.join(folder, "conf/left"), "");
    symlinkSync(shared, path.join(folder, "own-link"));
    writeFileSync(path.join(shared, "written"), "");
    await work.restore();

    expect(names().filter((name) => !name.startsWith("archive/"))).toEqual(
      before.filter((name) => !name.startsWith("archive/")),
    );
    expect(readdirSync(shared).sort()).toEqual(["inside", "written"]);
  });

  test("is of no use when a file of it is gone", async () => {
    const work = await WorkFolder.of(folder);
    rmSync(path.join(folder, "conf/settings"));
    await expect(work.restore()).rejects.toMatchObject({
      code: "WORK_FOLDER_CHANGED",
      message: "conf/settings is gone from the working directory",
    });
  });
});
