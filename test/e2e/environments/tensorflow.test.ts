import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { packageRoot } from "../../../src/programs.ts";
import { testCluster } from "../../support/cluster.ts";
import { runExample } from "../../support/examples.ts";
import { Person } from "../../support/person.ts";
import { pythonEnvironment } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const run = promisify(execFile);
const cluster = await testCluster();

describe("the examples of TensorFlow", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("tensorflow-ps: the parameter server serves two workers and is stopped when they are done", async () => {
    const python = await pythonEnvironment("tensorflow");
    const { exitCode, stdout } = await runExample(alice, python, "tensorflow-ps");

    expect(stdout).toMatch(/^ps:0 +\| ps:0 serves at \S+:\d+$/m);
    for (const worker of [0, 1]) {
      const done = new RegExp(
        `^worker:${worker} \\| worker ${worker} done, the model at step \\d+, accuracy ([\\d.]+) %$`,
        "m",
      ).exec(stdout);
      expect(Number(done?.[1])).toBeGreaterThan(80);
    }
    expect(stdout).toContain("SUCCEEDED");
    expect(exitCode).toBe(0);

    const [id = ""] = stdout.split(" ");
    expect(await alice.json("status", id)).toMatchObject({
      status: { checkpoint: { path: expect.stringMatching(`^hdfs://.*/${id}/worker-0/step-\\d+-at-`) } },
    });
  }, 600_000);

  test("run from Python: Keras tells a job how it trains, and tf-yarn's experiments and servers of TensorFlow work", async () => {
    const python = await pythonEnvironment("tensorflow");
    const tests = ["tests/test_tensorflow.py", "tests/test_tensorflow_feeds.py", "tests/test_training_libraries.py"];
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
    const ran = run(python, ["-m", "pytest", "-p", "no:cacheprovider", ...tests], {
      cwd: path.join(packageRoot(), "python"),
      env,
    });
    const { stdout } = await ran.catch((error) => error);
    expect(stdout).toMatch(/^=+ 14 passed, 2 skipped in .*=+$/m);
  }, 600_000);
});
