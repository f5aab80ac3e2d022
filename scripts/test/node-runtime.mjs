#!/usr/bin/env node
// Runs a command line with another release of Node, which comes from an npm package and is kept in the user's cache.
//   node scripts/test/node-runtime.mjs 22 node_modules/jest/bin/jest.js …
import { execFile, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { provideFolder } from "../cached-folder.mjs";
import { cacheFolder } from "../cluster/folders.mjs";
import { Problem, runMain } from "../problem.mjs";

/** The Node releases that tony-ts is tested with, by major version. @type {Readonly<Record<string, string>>} */
const nodeReleases = { 20: "20.20.2", 22: "22.23.3", 24: "24.21.0" };

const run = promisify(execFile);

/**
 * @param {string} major
 * @returns {Promise<string>} the executable
 */
async function provideNode(major) {
  const name = `node-linux-${process.arch}`;
  const folder = join(cacheFolder(), `${name}-${nodeReleases[major]}`);
  await provideFolder(folder, async (draft) => {
    await mkdir(draft);
    const options = [
      "--prefix",
      draft,
      "--no-save",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--no-package-lock",
    ];
    await run("npm", ["install", ...options, `${name}@${nodeReleases[major]}`]).catch((cause) => {
      throw new Problem(`npm could not fetch ${name}@${nodeReleases[major]}:\n${cause.stderr}`, { cause });
    });
  });
  return join(folder, "node_modules", name, "bin", "node");
}

/**
 * Processes that it starts as `node` use that release too.
 * @param {string} node
 * @param {readonly string[]} args
 * @returns {Promise<number>} its exit code, 1 for a signal
 */
async function runWith(node, args) {
  const path = `${dirname(node)}${delimiter}${process.env.PATH ?? ""}`;
  const child = spawn(node, args, { stdio: "inherit", env: { ...process.env, PATH: path } });
  return await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

await runMain(async () => {
  const [major, ...args] = process.argv.slice(2);
  if (major === undefined || !(major in nodeReleases)) {
    throw new Problem(`Usage: node-runtime.mjs ${Object.keys(nodeReleases).join("|")} ARGUMENTS OF NODE`, {
      exitCode: 2,
    });
  }
  const node = await provideNode(major);
  if (args.length === 0) {
    console.log(node);
    return 0;
  }
  return await runWith(node, args);
});
