import { spawn } from "node:child_process";

/**
 * Runs a program to its end, as another user if this process is root's.
 * @param {{ command: string, args: string[], environment: NodeJS.ProcessEnv }} program
 * @param {{ cwd: string, user: import("./accounts.mjs").Account }} options
 * @returns {Promise<{ code: number | null, output: string }>} both output streams in one
 */
export function runToEnd({ command, args, environment }, { cwd, user }) {
  return new Promise((resolve, reject) => {
    const identity = process.getuid?.() === 0 ? { uid: user.uid, gid: user.gid } : {};
    const child = spawn(command, args, { cwd, env: environment, stdio: ["ignore", "pipe", "pipe"], ...identity });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** The useful lines: the last ones, without stack frames and shutdown banners. @param {string} text */
export const lastLines = (text) =>
  text
    .trim()
    .split("\n")
    .filter((line) => !/^\s+(at |\.\.\. \d+ more)|SHUTDOWN_MSG|^[/*]+$/.test(line))
    .slice(-12)
    .map((line) => `  | ${line.slice(0, 300)}`)
    .join("\n");
