import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const TOOL = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "scripts", "cluster.mjs");

/** Runs the cluster tool with its output shown. @param {readonly string[]} args @returns {Promise<number>} its exit code */
export function clusterTool(args) {
  return new Promise((resolve, reject) => {
    const tool = spawn(process.execPath, [TOOL, ...args], { stdio: ["ignore", process.stderr, "inherit"] });
    tool.on("error", reject);
    tool.on("close", (code) => resolve(code ?? 1));
  });
}
