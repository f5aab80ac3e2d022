import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { packageRoot } from "../../src/programs.ts";
import { testCluster } from "../support/cluster.ts";
import { Person } from "../support/person.ts";
import { pythonWith, tensorFlowPython } from "../support/provide.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** The jobs under examples/, run as their readers run them. */
describe("the examples", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  const example = (name: string) => path.join(packageRoot(), "examples", name, "job.xml");

  test("hello: every task says who it is", async () => {
    const { exitCode, stdout } = await alice.run("submit", "--conf", example("hello"), "--logs", "all");
    expect(stdout).toMatch(/^worker:0 \| hello from worker:0, one of 2, in \/.*\/container_\w+$/m);
    expect(stdout).toMatch(/^worker:1 \| hello from worker:1, one of 2, in \/.*\/container_\w+$/m);
    expect(stdout).toContain("SUCCEEDED");
    expect(stdout).toContain("2 of 2 tasks exited 0 · 0 restarts");
    expect(exitCode).toBe(0);
  });

  test("pytorch-digits: two workers train a model to more than 95 %", async () => {
    const python = await pythonWith("torch", "sklearn");
    const words = ["submit", "--conf", example("pytorch-digits"), "--shell_env", `PYTHON=${python}`, "--logs", "all"];
    const { exitCode, stdout } = await alice.run(...words);

    expect(stdout).toMatch(/^worker:0 \| rank 0 of 2$/m);
    expect(stdout).toMatch(/^worker:1 \| rank 1 of 2$/m);
    const accuracies = Array.from(
      stdout.matchAll(/^worker:0 \| epoch \d\/5 .* test accuracy ([\d.]+) %/gm),
      ([, share]) => Number(share),
    );
    expect(accuracies).toHaveLength(5);
    expect(accuracies.at(-1)).toBeGreaterThan(95);
    expect(stdout).toContain("2 of 2 tasks exited 0 · 0 restarts");
    expect(exitCode).toBe(0);

    const [id = ""] = stdout.split(" ");
    const step = Number(Array.from(stdout.matchAll(/checkpoint step (\d+)/g)).at(-1)?.[1]);
    expect(await alice.json("status", id)).toMatchObject({
      status: { checkpoint: { step, path: expect.stringMatching(`^hdfs://.*/${id}/worker-0/step-${step}-at-`) } },
    });
    expect(stdout).toMatch(
      new RegExp(`^ +output hdfs://\\S+/tony-results/pytorch-digits/${id}/worker-0 \\(1 file, `, "m"),
    );
  });

  test("tensorflow-ps: the parameter server serves two workers and is stopped when they are done", async () => {
    const python = await tensorFlowPython();
    const words = ["submit", "--conf", example("tensorflow-ps"), "--shell_env", `PYTHON=${python}`, "--logs", "all"];
    const { exitCode, stdout } = await alice.run(...words);

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
});
