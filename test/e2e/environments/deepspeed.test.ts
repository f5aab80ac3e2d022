import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../../support/cluster.ts";
import { runExample } from "../../support/examples.ts";
import { Person } from "../../support/person.ts";
import { pythonEnvironment } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();

describe("the examples of DeepSpeed", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("two processes train one model by its engine, without its launcher", async () => {
    const python = await pythonEnvironment("deepspeed");
    // What DeepSpeed compiles at its start on a machine without GPUs has been compiled once for all.
    const extensions = `TORCH_EXTENSIONS_DIR=${path.resolve(python, "../..")}-extensions`;
    // Debian's PyTorch is older than 2.
    const settings = ["--shell_env", extensions, "--shell_env", "ZERO_STAGE=0"];
    const { exitCode, stdout } = await runExample(alice, python, "deepspeed", ...settings);
    const ranks = Array.from(stdout.matchAll(/^worker:\d \| rank (\d) of 2$/gm), ([, rank]) => Number(rank));
    expect(ranks.sort()).toEqual([0, 1]);
    expect(stdout).toMatch(/^worker:0 \| y = 3\.00 x \+ 2\.00$/m);
    expect(exitCode).toBe(0);
  }, 600_000);
});
