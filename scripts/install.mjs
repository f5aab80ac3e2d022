import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Problem, runMain } from "./problem.mjs";

const CHECKOUT = dirname(dirname(fileURLToPath(import.meta.url)));
const STAMP = join(CHECKOUT, "node_modules", ".tony-ts-lock-hash");

/**
 * Brings node_modules to what package-lock.json says. A fresh clone has none; an up-to-date one costs one hash.
 * @returns {Promise<boolean>} whether `npm ci` ran
 */
export async function installPackages() {
  const wanted = createHash("sha256")
    .update(await readFile(join(CHECKOUT, "package-lock.json")))
    .digest("hex");
  if ((await readFile(STAMP, "utf8").catch(() => "")) === wanted) return false;
  await npmCi();
  await writeFile(STAMP, wanted);
  return true;
}

/** @returns {Promise<void>} */
function npmCi() {
  return new Promise((resolve, reject) => {
    let output = "";
    const npm = spawn("npm", ["ci", "--no-audit", "--no-fund"], { cwd: CHECKOUT, stdio: ["ignore", "pipe", "pipe"] });
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

/** `--if-missing`: what an npm script of a fresh clone needs, without a word and without touching packages that are there. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await runMain(async () => {
    if (process.argv.includes("--if-missing")) {
      if (existsSync(join(CHECKOUT, "node_modules"))) return;
      console.error("Installing npm packages …");
    }
    const started = performance.now();
    const ran = await installPackages();
    console.log(
      ran ? `✓ npm packages  ${((performance.now() - started) / 1000).toFixed(0)} s` : "✓ npm packages  up to date",
    );
  });
}
