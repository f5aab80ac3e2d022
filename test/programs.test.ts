import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "@jest/globals";
import { buildId, packageRoot, programPath } from "../src/programs.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

describe("the package's own files", () => {
  const folder = temporaryFolder();

  function installAt(root: string): void {
    mkdirSync(path.join(root, "dist/programs"), { recursive: true });
    writeFileSync(path.join(root, "package.json"), JSON.stringify({ name: "tony-ts", version: "9.9.9" }));
  }

  test("the root is found from any depth, past packages of other names", () => {
    installAt(folder.path);
    const inner = path.join(folder.path, "node_modules/other/lib");
    mkdirSync(inner, { recursive: true });
    writeFileSync(path.join(folder.path, "node_modules/other/package.json"), JSON.stringify({ name: "other" }));

    expect(packageRoot(inner)).toBe(folder.path);
  });

  test("a folder outside the package is said to be so", () => {
    expect(() => packageRoot(folder.path)).toThrow(expect.objectContaining({ code: "PACKAGE_NOT_FOUND" }));
  });

  test("a program that is not built names the command that builds it", () => {
    installAt(folder.path);
    expect(() => programPath("am", folder.path)).toThrow(/npm run build/);

    const built = path.join(folder.path, "dist/programs/am.cjs");
    writeFileSync(built, "");
    expect(programPath("am", folder.path)).toBe(built);
  });

  test("from sources the build is the package's version", () => {
    expect(buildId()).toMatch(/^\d+\.\d+\.\d+/);
  });
});
