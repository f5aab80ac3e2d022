import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";

const core = path.resolve(import.meta.dirname, "../am/core");
const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));

/** dependency-cruiser sees which files are imported, but not whether types alone are. */
describe("the core", () => {
  test.each(files)("%s takes nothing but types from src/job", (name) => {
    const imports = readFileSync(path.join(core, name), "utf8").match(/^(import|export)\b[^;]*from "[^"]*";/gm) ?? [];
    const values = imports.filter((line) => line.includes("/src/job/") && !/^(import|export) type\b/.test(line));
    expect(values).toEqual([]);
  });
});
