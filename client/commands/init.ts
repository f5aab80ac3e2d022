import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ExitCode } from "../../src/errors.ts";
import { packageRoot } from "../../src/programs.ts";
import { defineCommand, usageError } from "../command.ts";
import { isStarter, starters, withFurtherKeys } from "../starter-job.ts";

const kinds = Object.keys(starters).join(", ");
const jobFile = "job.xml";

export const init = defineCommand({
  verb: "init",
  summary: "Write a commented job.xml and a program that runs as it is",
  positionals: { kind: { describe: `What to start from: ${kinds}; default hello` } },
  options: {
    directory: { type: "string", default: ".", describe: "Where to write" },
    force: { type: "boolean", default: false, describe: "Replace files that are there" },
  },
  examples: [["init pytorch", "A PyTorch job on two workers"]],
  run: async ({ kind = "hello", directory, force }, { output, workingDirectory }) => {
    if (!isStarter(kind)) throw usageError(`There is no "${kind}" to start from: choose ${kinds}`);
    const example = path.join(packageRoot(), "examples", starters[kind]);
    const folder = path.resolve(workingDirectory, directory);
    const names = readdirSync(example);
    const there = names.filter((name) => existsSync(path.join(folder, name)));
    if (there.length > 0 && !force) {
      throw usageError(`${folder} has ${there.join(" and ")} already: give --force to replace, or another --directory`);
    }
    mkdirSync(folder, { recursive: true });
    for (const name of names) copyFileSync(path.join(example, name), path.join(folder, name));
    writeFileSync(path.join(folder, jobFile), withFurtherKeys(readFileSync(path.join(example, jobFile), "utf8")));
    const shown = names.map((name) => path.join(directory, name)).join(", ");
    output.print(`Wrote ${shown}\n  tony-ts submit --conf ${path.join(directory, jobFile)}`);
    return ExitCode.succeeded;
  },
});
