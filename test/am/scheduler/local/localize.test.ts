import { mkdirSync, readFileSync, readlinkSync, statSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { Localizer } from "../../../../am/scheduler/local/localize.ts";
import type { ShippedFile } from "../../../../src/job/stored/job-file.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { writeZip } from "../../../support/zip-writer.ts";

describe("the files of containers on this machine", () => {
  const base = temporaryFolder();

  function shipped(name: string, type: ShippedFile["type"]): ShippedFile {
    const file = path.join(base.path, name);
    const { size, mtimeMs } = statSync(file);
    const modificationTimeMs = Math.floor(mtimeMs);
    return {
      ...{ link: name, url: `file://${file}`, type, visibility: "APPLICATION" },
      ...{ sizeBytes: size, modificationTimeMs },
    };
  }

  function workFolder(name: string): string {
    mkdirSync(path.join(base.path, name));
    return path.join(base.path, name);
  }

  test("are there under their names; an archive is unpacked once for all of them", async () => {
    const members = [{ path: "bin/python", mode: 0o100644, content: "python" }];
    writeFileSync(path.join(base.path, "venv.zip"), writeZip(members));
    writeFileSync(path.join(base.path, "train.py"), "train");
    const files = [shipped("venv.zip", "ARCHIVE"), shipped("train.py", "FILE")];
    const localizer = new Localizer(path.join(base.path, "cache"));
    const folders = [workFolder("c1"), workFolder("c2")];
    await Promise.all(folders.map((folder) => localizer.place(files, folder)));
    for (const folder of folders) {
      expect(readFileSync(path.join(folder, "venv.zip/bin/python"), "utf8")).toBe("python");
      expect(readFileSync(path.join(folder, "train.py"), "utf8")).toBe("train");
    }
    expect(new Set(folders.map((folder) => readlinkSync(path.join(folder, "venv.zip")))).size).toBe(1);
  });

  test.each([
    { changed: "another", atS: 1_795_305_600, what: "size" },
    { changed: "drain", atS: 1_795_305_601, what: "time" },
  ])("are the ones that were submitted, or none: another $what", async ({ changed, atS }) => {
    const name = path.join(base.path, "train.py");
    writeFileSync(name, "train");
    utimesSync(name, 1_795_305_600, 1_795_305_600);
    const file = shipped("train.py", "FILE");
    writeFileSync(name, changed);
    utimesSync(name, atS, atS);
    await expect(new Localizer(path.join(base.path, "cache")).place([file], workFolder("c1"))).rejects.toMatchObject({
      code: "LOCALIZATION",
      message: expect.stringContaining("train.py has changed since the job was submitted"),
    });
  });

  test("that are archives are told by their names, as YARN tells them", async () => {
    const zip = writeZip([{ path: "a.txt", mode: 0o100644, content: "a" }]);
    const localizer = new Localizer(path.join(base.path, "cache"));
    for (const name of ["lib.jar", "LIB.ZIP"]) {
      writeFileSync(path.join(base.path, name), zip);
      const folder = workFolder(`of ${name}`);
      await localizer.place([shipped(name, "ARCHIVE")], folder);
      expect(readFileSync(path.join(folder, name, "a.txt"), "utf8")).toBe("a");
    }
    writeFileSync(path.join(base.path, "lib.rar"), zip);
    await expect(localizer.place([shipped("lib.rar", "ARCHIVE")], workFolder("c9"))).rejects.toMatchObject({
      code: "LOCALIZATION",
      message: expect.stringMatching(/lib\.rar is not an archive that YARN unpacks: /),
    });
  });
});
