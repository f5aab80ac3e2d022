import { execFile, spawn } from "node:child_process";
import { createInterface } from "node:readline/promises";
import { promisify } from "node:util";
import { onPath } from "./prerequisites.mjs";
import { Problem, printedBy } from "./problem.mjs";

const run = promisify(execFile);

/** Waits for other processes that install packages, such as a new machine's own updates; retries aborted downloads. */
const APT_OPTIONS = ["-q", "-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=5"];

/**
 * How system packages are installed here.
 * @typedef {object} Installer
 * @property {string} line the command that a person would type
 * @property {() => Promise<void>} install
 *
 * @param {readonly string[]} packages of Debian
 * @returns {Promise<Installer | { refusal: string }>} or the reason why they cannot be installed
 */
export async function packageInstaller(packages) {
  if ((await onPath("apt-get")) === undefined) return { refusal: "this machine has no apt-get" };
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && (await onPath("sudo")) === undefined) return { refusal: "you are not root, and there is no sudo" };
  const words = ["apt-get", "install", "-y", "--no-install-recommends", ...packages];
  return {
    line: [...(isRoot ? [] : ["sudo"]), ...words].join(" "),
    async install() {
      const asRoot = [
        ...(isRoot ? [] : ["sudo", "-n"]),
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "apt-get",
        ...APT_OPTIONS,
      ];
      await apt([...asRoot, "update"]);
      await apt([...asRoot, ...words.slice(1)]);
    },
  };
}

/** @param {readonly string[]} command */
async function apt([program = "", ...args]) {
  try {
    await run(program, args, { env: process.env, maxBuffer: 64 << 20 });
  } catch (cause) {
    const lines = printedBy(cause).trim().split("\n");
    const errors = lines.filter((line) => /^(E|W|dpkg|sudo):/.test(line));
    const shown = (errors.length > 0 ? errors : lines).slice(-5).map((line) => `  ${line}`);
    throw new Problem([`${[program, ...args].join(" ")} failed:`, ...shown].join("\n"), { cause });
  }
}

/**
 * How they are installed, if that is allowed: a person at a terminal is asked once; without a terminal, `--yes` or CI
 * allows it.
 * @param {readonly string[]} packages of Debian
 * @param {{ yes: boolean }} options
 * @returns {Promise<Installer | { refusal: string }>}
 */
export async function askToInstall(packages, { yes }) {
  const installer = await packageInstaller(packages);
  if ("refusal" in installer) return installer;
  console.log(`To install what is missing:\n  ${installer.line}`);
  const refusal = await refusalOf(installer.line, yes);
  return refusal === undefined ? installer : { refusal };
}

/** Why the command may not be run. @param {string} line @param {boolean} yes */
async function refusalOf(line, yes) {
  const { stdin, stdout } = process;
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true;
  if (!yes && !isTerminal && !process.env.CI) {
    return "there is no terminal to ask you on; add --yes to install without a question";
  }
  if (!yes && isTerminal && !(await confirm("Run this now? [Y/n] "))) return "you said no";
  if (line.startsWith("sudo ") && !(await mayUseSudo(isTerminal))) return "sudo refused";
  return undefined;
}

/** @param {string} question */
async function confirm(question) {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  /** @type {Promise<string>} */
  const closed = new Promise((resolve) => terminal.once("close", () => resolve("n")));
  const answer = await Promise.race([terminal.question(question), closed]);
  terminal.close();
  return /^(y(es)?)?$/i.test(answer.trim());
}

/** Asks for the password now, so that nothing has to be typed later. @param {boolean} isTerminal @returns {Promise<boolean>} */
function mayUseSudo(isTerminal) {
  return new Promise((resolve) => {
    const child = spawn("sudo", ["-v", ...(isTerminal ? [] : ["-n"])], { stdio: "inherit" });
    child.on("error", () => resolve(false));
    child.on("close", (code) => resolve(code === 0));
  });
}
