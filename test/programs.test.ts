import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { buildId, packageRoot, programPath } from "../src/programs.ts";

describe("the package's own files", () => {
  let folder = "";

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tony-programs-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function installAt(root: string): void {
    mkdirSync(path.join(root, "dist/programs"), { recursive: true });
    writeFileSync(path.join(root, "package.json"), JSON.stringify({ name: "tony-ts", version: "9.9.9" }));
  }

  test("the root is found from any depth, past packages of other names", () => {
    installAt(folder);
    const inner = path.join(folder, "node_modules/other/lib");
    mkdirSync(inner, { recursive: true });
    writeFileSync(path.join(folder, "node_modules/other/package.json"), JSON.stringify({ name: "other" }));

    expect(packageRoot(inner)).toBe(folder);
  });

  test("a folder outside the package is said to be so", () => {
    expect(() => packageRoot(folder)).toThrow(expect.objectContaining({ code: "PACKAGE_NOT_FOUND" }));
  });

  test("a program that is not built names the command that builds it", () => {
    installAt(folder);
    expect(() => programPath("am", folder)).toThrow(/npm run build/);

    const built = path.join(folder, "dist/programs/am.cjs");
    writeFileSync(built, "");
    expect(programPath("am", folder)).toBe(built);
  });

  test("from sources the build is the package's version", () => {
    expect(buildId()).toMatch(/^\d+\.\d+\.\d+/);
  });
});
