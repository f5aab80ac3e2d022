import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";

const run = promisify(execFile);

test("each package of the lock file has an address, and none names a registry: run scripts/complete-lock.mjs where this fails", async () => {
  const { packages } = JSON.parse(await readFile("package-lock.json", "utf8"));
  const addresses = Object.entries(packages).flatMap(([path, { link, resolved }]) =>
    path.includes("node_modules/") && !link ? [[path, resolved]] : [],
  );
  expect(addresses.length).toBeGreaterThan(100);
  expect(addresses.filter(([, address]) => !address?.startsWith("https://npm.invalid/"))).toEqual([]);
  expect(await readFile(".npmrc", "utf8")).toContain("replace-registry-host=npm.invalid");
});

describe("in a checkout", () => {
  /** @type {string} */
  let checkout;

  beforeEach(async () => {
    checkout = await mkdtemp(join(tmpdir(), "tony-install-"));
    await cp("scripts", join(checkout, "scripts"), { recursive: true });
    await cp("package-lock.json", join(checkout, "package-lock.json"));
    // Stands for npm: says how it was called, and makes what `npm ci` would.
    await mkdir(join(checkout, "bin"));
    await writeFile(join(checkout, "bin", "npm"), '#!/bin/sh\necho "$@" >called; mkdir -p node_modules\n', {
      mode: 0o755,
    });
  });
  afterEach(() => rm(checkout, { recursive: true }));

  const install = (/** @type {string[]} */ ...options) =>
    run(process.execPath, [join(checkout, "scripts", "install.mjs"), ...options], {
      env: { ...process.env, PATH: `${join(checkout, "bin")}:${process.env.PATH}` },
    });
  const installIfMissing = (/** @type {string[]} */ ...more) => install("--if-missing", ...more);

  test("without packages they are installed first", async () => {
    expect((await installIfMissing()).stderr).toContain("Installing npm packages");
    expect(await readFile(join(checkout, "called"), "utf8")).toMatch(/^ci /);
  });

  test("the build goes without the tools of tests and checks, which these install when they are first needed", async () => {
    await installIfMissing("--for-build");
    expect(await readFile(join(checkout, "called"), "utf8")).toMatch(/^ci --workspaces=false /);
    expect(await installIfMissing("--for-build")).toEqual({ stdout: "", stderr: "" });
    await installIfMissing();
    expect(await readFile(join(checkout, "called"), "utf8")).toMatch(/^ci --no-audit /);
    await rm(join(checkout, "called"));
    await installIfMissing("--for-build");
    await expect(readFile(join(checkout, "called"))).rejects.toThrow("ENOENT");
  });

  test("what `npm ci` installed is not installed again, but where the lock file has changed since", async () => {
    await mkdir(join(checkout, "node_modules"));
    const lock = JSON.parse(await readFile("package-lock.json", "utf8"));
    const installed = join(checkout, "node_modules", ".package-lock.json");
    await writeFile(installed, JSON.stringify(lock));
    expect((await install()).stdout).toContain("up to date");
    await expect(readFile(join(checkout, "called"))).rejects.toThrow("ENOENT");

    lock.packages["node_modules/long"].version = "0.0.1";
    await writeFile(join(checkout, "package-lock.json"), JSON.stringify(lock));
    expect((await install()).stdout).not.toContain("up to date");
    expect(await readFile(join(checkout, "called"), "utf8")).toMatch(/^ci /);
  });

  test("with packages nothing is touched and nothing said", async () => {
    await mkdir(join(checkout, "node_modules"));
    expect(await installIfMissing()).toEqual({ stdout: "", stderr: "" });
    await expect(readFile(join(checkout, "called"))).rejects.toThrow("ENOENT");
  });
});

test("every npm script that needs packages installs them first where there are none", async () => {
  const { scripts } = JSON.parse(await readFile("package.json", "utf8"));
  const needed = [
    "proto",
    "build",
    "typecheck",
    "lint",
    "test:unit",
    "docs",
    "simulate",
    "mutants",
    "bench",
    "prepack",
  ];
  for (const name of needed)
    expect(scripts[name]).toMatch(/^node scripts\/install\.mjs --if-missing (--for-build )?&& /);
});
