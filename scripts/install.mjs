import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Problem, runMain } from "./problem.mjs";

const CHECKOUT = dirname(dirname(fileURLToPath(import.meta.url)));
const STAMP = join(CHECKOUT, "node_modules", ".tony-ts-lock-hash");
/** npm's own list of what it installed, which it writes last. */
const INSTALLED = join(CHECKOUT, "node_modules", ".package-lock.json");

/** The parts of the lock file that `npm ci` can install. The tools for tests and checks (`test/tools`) are two thirds of it, in bytes and in time. */
const EVERYTHING = { name: "everything", options: [] };
const FOR_THE_BUILD = { name: "for the build", options: ["--workspaces=false"] };

/**
 * Updates node_modules to package-lock.json. A fresh clone has none; if it is up to date, the check costs one hash.
 * @param {{ forBuild?: boolean }} [which] `forBuild`: only what the build needs
 * @returns {Promise<boolean>} whether `npm ci` ran
 */
export async function installPackages({ forBuild = false } = {}) {
  const lock = await readFile(join(CHECKOUT, "package-lock.json"), "utf8");
  const hash = createHash("sha256").update(lock).digest("hex");
  const suffices = forBuild ? [EVERYTHING, FOR_THE_BUILD] : [EVERYTHING];
  const stamp = await readFile(STAMP, "utf8").catch(() => "");
  if (suffices.some(({ name }) => stamp === `${hash} ${name}`)) return false;
  const isThere = await isInstalled(JSON.parse(lock));
  const { name, options } = forBuild && !isThere ? FOR_THE_BUILD : EVERYTHING;
  if (!isThere) await npmCi(options);
  await writeFile(STAMP, `${hash} ${name}`);
  return !isThere;
}

/**
 * Whether somebody ran `npm ci` already. Only this platform's optional packages are installed.
 * @param {{ readonly packages: Readonly<Record<string, { version?: string, integrity?: string, optional?: boolean }>> }} lock
 */
async function isInstalled(lock) {
  const installed = JSON.parse(await readFile(INSTALLED, "utf8").catch(() => "{}")).packages ?? {};
  return Object.entries(lock.packages).every(
    ([path, { version, integrity, optional }]) =>
      path === "" || optional || (installed[path]?.version === version && installed[path]?.integrity === integrity),
  );
}

/**
 * @param {readonly string[]} options
 * @returns {Promise<void>}
 */
function npmCi(options) {
  return new Promise((resolve, reject) => {
    let output = "";
    const npm = spawn("npm", ["ci", ...options, "--no-audit", "--no-fund"], {
      cwd: CHECKOUT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [npm.stdout, npm.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
    npm.on("error", (cause) =>
      reject(new Problem("npm was not found: it comes with Node; put it on PATH", { exitCode: 2, cause })),
    );
    npm.on("close", (code) => {
      if (code === 0) resolve();
      else reject(new Problem(`npm ci failed (exit ${code}):\n${output.trim().split("\n").slice(-15).join("\n")}`));
    });
  });
}

/**
 * `--if-missing`: installs silently what an npm script in a fresh clone needs, and does not touch existing packages.
 * `--for-build`: only what the build needs.
 */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runMain(async () => {
    const forBuild = process.argv.includes("--for-build");
    if (process.argv.includes("--if-missing")) {
      const stamp = await readFile(STAMP, "utf8").catch(() => "");
      const isPartial = stamp.endsWith(FOR_THE_BUILD.name) && !forBuild;
      if (existsSync(join(CHECKOUT, "node_modules")) && !isPartial) return;
      console.error("Installing npm packages …");
    }
    const started = performance.now();
    const ran = await installPackages({ forBuild });
    console.log(
      ran ? `✓ npm packages  ${((performance.now() - started) / 1000).toFixed(0)} s` : "✓ npm packages  up to date",
    );
  });
}
