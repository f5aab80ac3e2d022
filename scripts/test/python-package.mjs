#!/usr/bin/env node
// Checks and tests the Python package, in the environment python-package: node scripts/test/python-package.mjs. With
// arguments, which go to pytest, it only runs tests: node scripts/test/python-package.mjs -k traceback
import { execFileSync, spawnSync } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runMain } from "../problem.mjs";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const python = execFileSync(process.execPath, ["scripts/test/python-environment.mjs", "python-package"], {
  cwd: root,
  encoding: "utf8",
}).trim();

/** The process that runs next to an ApplicationMaster is Python, too. */
const SOURCES = ["src", "torchx/src", "airflow/src", "../am/search/optuna_trials.py"];
const CODE = [...SOURCES, "tests", "hatch_build.py", "api_page.py"];

/** Python 3.8, the oldest supported release, cannot be run here: ruff knows its syntax, vermin its library. mypy only checks for 3.10 and later. */
const checks = [
  ["-m", "ruff", "format", "--check", "--no-cache", ...CODE],
  ["-m", "ruff", "check", "--no-cache", ...CODE],
  ["-m", "mypy", "--cache-dir", "/dev/null", "--python-version", "3.10", ...CODE],
  ["-m", "basedpyright", "--pythonpath", python, ...SOURCES, "hatch_build.py", "api_page.py"],
  ["-c", "import vermin; vermin.main()", "--target=3.8-", "--no-tips", "--quiet", ...SOURCES],
];
/** @param {readonly string[]} words */
const tests = (words) => ["-m", "pytest", "-p", "no:cacheprovider", ...words];

/** @param {readonly string[]} words of the interpreter */
function passes(words) {
  const { status } = spawnSync(python, words, {
    cwd: path.join(root, "python"),
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    stdio: "inherit",
  });
  if (status !== 0) console.log(`python ${words.join(" ")} failed`);
  return status === 0;
}

await runMain(async () => {
  const words = process.argv.slice(2);
  const steps = words.length > 0 ? [tests(words)] : [...checks, tests(["--ignore=tests/cluster"])];
  // All steps run, so that one run reports everything that is wrong.
  return steps.map(passes).every(Boolean) ? 0 : 1;
});
