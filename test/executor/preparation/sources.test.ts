import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { expect, test } from "@jest/globals";
import { layOutSources } from "../../../executor/preparation/sources.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder();
const at = (...names: string[]) => path.join(folder.path, ...names);
const read = (...names: string[]) => readFileSync(at(...names), "utf8");

/** A file as a NodeManager unpacks it: nobody may write to it. */
function unpacked(name: string, content: string, mode = 0o500): void {
  mkdirSync(path.dirname(at("src-dir", name)), { recursive: true });
  writeFileSync(at("src-dir", name), content);
  chmodSync(at("src-dir", name), mode);
}

test("a source tree lies in the working directory itself, as a copy that the program may write to", async () => {
  unpacked("train.py", "import pkg.model");
  unpacked("pkg/model.py", "one", 0o400);
  symlinkSync("pkg/model.py", at("src-dir", "model.py"));
  expect(await layOutSources(folder.path)).toEqual([]);
  expect(read("train.py")).toBe("import pkg.model");
  expect([read("model.py"), readlinkSync(at("model.py"))]).toEqual(["one", "pkg/model.py"]);
  expect([statSync(at("train.py")).mode & 0o777, statSync(at("pkg", "model.py")).mode & 0o777]).toEqual([0o700, 0o600]);
  writeFileSync(at("pkg", "model.py"), "two");
  expect(read("src-dir", "pkg", "model.py")).toBe("one");
});

/** Sources of which the working directory has some already. */
function unpackTakenNames(): void {
  unpacked("settings.json", "of the sources");
  unpacked("tmp/notes", "kept");
  unpacked("data/part-0", "of the sources");
  unpacked("out", "of the sources");
}

/** What it has: a file, folders of its own, and one that others share. */
function takeNames(): void {
  writeFileSync(at("settings.json"), "of the job");
  for (const own of ["tmp", "out"]) mkdirSync(at(own));
  mkdirSync(at("shared"));
  symlinkSync("shared", at("data"));
}

test("what is there already stays, and a folder that others share is not written to", async () => {
  unpackTakenNames();
  takeNames();
  expect([...(await layOutSources(folder.path))].sort()).toEqual(["data", "out", "settings.json"]);
  expect(read("settings.json")).toBe("of the job");
  expect(read("tmp", "notes")).toBe("kept");
});

/** A folder as it comes: packed by the client, its files with the modes that they had. */
function packed(...names: string[]): void {
  execFileSync("tar", ["-czf", at("packed.tar.gz"), "-C", at("src-dir"), ...names]);
  rmSync(at("src-dir"), { recursive: true });
  renameSync(at("packed.tar.gz"), at("src-dir"));
}

test("a packed source tree is unpacked into the working directory itself", async () => {
  unpacked("run.sh", "one", 0o755);
  unpacked("pkg/model.py", "two", 0o644);
  symlinkSync("pkg/model.py", at("src-dir", "model.py"));
  packed("run.sh", "pkg", "model.py");
  expect(await layOutSources(folder.path)).toEqual([]);
  expect([read("run.sh"), read("model.py")]).toEqual(["one", "two"]);
  expect(statSync(at("run.sh")).mode & 0o777).toBe(0o755);
  expect(readdirSync(folder.path).sort()).toEqual(["model.py", "pkg", "run.sh", "src-dir"]);
});

test("of a packed one, too, what is there already stays, and a folder that others share is not written to", async () => {
  unpackTakenNames();
  packed("settings.json", "tmp", "data", "out");
  takeNames();
  expect([...(await layOutSources(folder.path))].sort()).toEqual(["data", "out", "settings.json"]);
  expect(read("settings.json")).toBe("of the job");
  expect(read("tmp", "notes")).toBe("kept");
  expect(readdirSync(at("shared"))).toEqual([]);
});

test("sources that cannot be copied are an error", async () => {
  unpacked("train.py", "");
  writeFileSync(at("pkg"), "");
  mkdirSync(at("src-dir", "pkg"));
  expect(await layOutSources(folder.path)).toEqual(["pkg"]);
  await expect(layOutSources(at("pkg"))).rejects.toMatchObject({ code: "ENOTDIR" });
});

test("a job without sources has nothing to lay out", async () => {
  expect(await layOutSources(folder.path)).toEqual([]);
});
