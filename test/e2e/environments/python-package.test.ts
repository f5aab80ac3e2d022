import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { packageRoot } from "../../../src/programs.ts";
import { testCluster } from "../../support/cluster.ts";
import { Person } from "../../support/person.ts";
import { pythonEnvironment, pythonWith } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const run = promisify(execFile);
const cluster = await testCluster();

describe("the Python package", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("submits, follows, reads and ends jobs of a cluster: python/tests/cluster", async () => {
    const python = await pythonEnvironment("python-package");
    const words = ["-m", "pytest", "-p", "no:cacheprovider", "tests/cluster"];
    const PYTHON_WITH_TORCH = await pythonWith("torch");
    const env = { ...process.env, ...alice.environment, PYTHONDONTWRITEBYTECODE: "1", PYTHON_WITH_TORCH };
    const ran = run(python, words, { cwd: path.join(packageRoot(), "python"), env });
    const { stdout } = await ran.catch((error) => error);
    expect(stdout).toMatch(/^=+ \d+ passed in .*=+$/m);
  }, 600_000);
});
