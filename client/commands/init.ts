import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ExitCode, UserError, usageError } from "../../src/errors.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { packageRoot } from "../../src/programs.ts";
import { defineCommand } from "../command-line/command.ts";
import { isStarter, type Starter, starters, withFurtherKeys } from "../command-line/starter-job.ts";

const kinds = Object.keys(starters).join(", ");
const JOB_FILE = "job.xml";

export const init = defineCommand({
  verb: "init",
  summary: "Write a job.xml with comments, and a program to start from",
  positionals: {
    kind: { describe: `What to start from: ${kinds}; default hello` },
  },
  options: {
    directory: { type: "string", default: ".", describe: "Where to write" },
    force: { type: "boolean", default: false, describe: "Replace files that are already there" },
  },
  examples: [["init pytorch", "job.xml and train.py of a distributed PyTorch training"]],
  run: async ({ kind = "hello", directory, force }, { output, workingDirectory }) => {
    if (!isStarter(kind)) throw usageError(`There is no "${kind}" to start from: choose ${kinds}`);
    const target = path.resolve(workingDirectory, directory);
    const files = starterFiles(kind);
    if (!force) refuseToReplace(target, files);
    write(target, files);
    const shown = files.map(({ name }) => path.join(directory, name)).join(", ");
    const verb = kind === "search" ? "search" : "submit";
    output.print(`Wrote ${shown}\n  tony-ts ${verb} ${path.join(directory, JOB_FILE)}`);
    return ExitCode.succeeded;
  },
});

interface StarterFile {
  readonly name: string;
  readonly text: string;
}

function starterFiles(starter: Starter): StarterFile[] {
  const source = path.join(packageRoot(), "examples", starters[starter]);
  return readdirSync(source, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => {
      const text = readFileSync(path.join(source, name), "utf8");
      return { name, text: name === JOB_FILE ? withFurtherKeys(text) : text };
    })
    .sort((a, b) => Number(b.name === JOB_FILE) - Number(a.name === JOB_FILE));
}

function refuseToReplace(target: string, files: readonly StarterFile[]): void {
  const present = files.filter(({ name }) => existsSync(path.join(target, name))).map(({ name }) => name);
  if (present.length === 0) return;
  throw new UserError(
    `${present.join(" and ")} ${present.length === 1 ? "is" : "are"} already in ${target}; give another --directory, or --force to replace`,
    { code: "FILE_EXISTS" },
  );
}

function write(target: string, files: readonly StarterFile[]): void {
  try {
    mkdirSync(target, { recursive: true });
    for (const { name, text } of files) writeFileSync(path.join(target, name), text);
  } catch (error) {
    throw new UserError(`${target} cannot be written: ${errorMessage(error)}`, {
      code: "FILE_NOT_WRITTEN",
      cause: error,
    });
  }
}
