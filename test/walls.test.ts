import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { cruise } from "dependency-cruiser";
import {
  clientRooms,
  coreRooms,
  executorRooms,
  forbidden,
  hadoopLayers,
  masterRooms,
} from "../.dependency-cruiser.mjs";
import { temporaryFolder } from "./support/temporary-folder.ts";

const cores = ["../am/core", "../executor/core"].map((core) => path.resolve(import.meta.dirname, core));
const job = path.resolve(import.meta.dirname, "../src/job/");
const files = cores.flatMap((core) =>
  readdirSync(core, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => path.join(core, name)),
);

/** The modules that a file takes more than types from. */
function valuesOf(file: string): string[] {
  const imports = readFileSync(file, "utf8").match(/^(import|export)\b[^;]*from "[^"]*";/gm) ?? [];
  return imports
    .filter((line) => !/^(import|export) type\b/.test(line))
    .map((line) => /from "([^"]*)"/.exec(line)?.[1] ?? "");
}

/** The files of src/job that a file takes values from, and those that these do. */
function sharedWith(file: string, known = new Set<string>()): Set<string> {
  for (const module of valuesOf(file)) {
    const target = path.resolve(path.dirname(file), module);
    if (target.startsWith(job) && !known.has(target)) {
      known.add(target);
      sharedWith(target, known);
    }
  }
  return known;
}

/** dependency-cruiser sees which files are imported, but not what of them. */
describe("a core", () => {
  test.each(files)("%s takes from src/job types, and functions of files that take no more than that", (file) => {
    const impure = [...sharedWith(file)].filter((file) =>
      valuesOf(file).some((module) => !path.resolve(path.dirname(file), module).startsWith(job)),
    );
    expect(impure).toEqual([]);
  });
});

const ROOMS = [
  { folder: "client", rooms: clientRooms, page: "docs/makers/architecture.md" },
  { folder: "executor", rooms: executorRooms, page: "docs/makers/architecture.md" },
  { folder: "am", rooms: masterRooms, page: "docs/makers/architecture.md" },
  { folder: "am/core", rooms: coreRooms, page: "docs/makers/architecture.md" },
  { folder: "src/hadoop", rooms: hadoopLayers, page: "src/hadoop/README.md" },
];

describe.each(ROOMS)("the rooms of $folder", ({ folder, rooms, page }) => {
  const root = path.resolve(import.meta.dirname, "..");

  test("are those that there are", () => {
    const there = readdirSync(path.join(root, folder), { withFileTypes: true })
      .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
      .filter((name) => !name.endsWith(".md"));
    expect([...rooms].sort()).toEqual(there.sort());
  });

  test("stand in this order in the page that describes them", () => {
    const text = readFileSync(path.join(root, page), "utf8");
    const table = text.split(`| \`${folder}/\` |`)[1]?.split("\n\n")[0] ?? text;
    const shown = [...table.matchAll(/^\| `([a-z-]+)` \|/gm)];
    expect(shown.map(([, room]) => `${room}/`)).toEqual(rooms.filter((room) => room.endsWith("/")));
  });
});

describe("the rooms of all folders", () => {
  const planted = ROOMS.map(({ folder, rooms }) =>
    rooms.map((room) => `${folder}/${room.endsWith("/") ? `${room}planted.ts` : room}`),
  );
  const tree = temporaryFolder();

  /** One file for each room, in a folder of its own, that imports the file of another. */
  async function violations(imported: (index: number) => number): Promise<string[]> {
    for (const files of planted) {
      for (const [index, file] of files.entries()) {
        const target = files[imported(index)];
        mkdirSync(path.join(tree.path, path.dirname(file)), { recursive: true });
        const specifier = target === undefined ? "" : path.relative(path.dirname(file), target);
        writeFileSync(path.join(tree.path, file), target === undefined ? "" : `import "./${specifier}";\n`);
      }
    }
    const rules = { forbidden: forbidden.filter(({ name }) => name.endsWith("-imports-downward")) };
    const { output } = await cruise(["."], { baseDir: tree.path, ruleSet: rules, validate: true });
    if (typeof output === "string") throw new Error(output);
    return output.summary.violations.map(({ from }) => from).sort();
  }

  test("each is refused an import from the one above it", async () => {
    expect(await violations((index) => index - 1)).toEqual(planted.flatMap((files) => files.slice(1)).sort());
  });

  test("each may import the one below it", async () => {
    expect(await violations((index) => index + 1)).toEqual([]);
  });
});
