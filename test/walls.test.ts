import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";

const core = path.resolve(import.meta.dirname, "../am/core");
const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

/** The modules that a file takes more than types from. */
function valuesOf(file: string): string[] {
  const imports = readFileSync(file, "utf8").match(/^(import|export)\b[^;]*from "[^"]*";/gm) ?? [];
  return imports
    .filter((line) => !/^(import|export) type\b/.test(line))
    .map((line) => /from "([^"]*)"/.exec(line)?.[1] ?? "");
}

/** dependency-cruiser sees which files are imported, but not what of them. */
describe("the core", () => {
  test.each(files)("%s takes from src/job types, and functions of files that import nothing but types", (name) => {
    const file = path.join(core, name);
    const shared = valuesOf(file).filter((module) => module.includes("/src/job/"));
    const impure = shared.filter((module) => valuesOf(path.resolve(path.dirname(file), module)).length > 0);
    expect(impure).toEqual([]);
  });
});
