import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../../support/cluster.ts";
import { runExample } from "../../support/examples.ts";
import { Person } from "../../support/person.ts";
import { pythonEnvironment } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();

describe("the example of JAX", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("two processes fit a line by gradients that they compute together", async () => {
    const { exitCode, stdout } = await runExample(alice, await pythonEnvironment("jax"), "jax");
    expect(stdout).toMatch(/^worker:0 \| process 0 of 2, 2 devices in all$/m);
    expect(stdout).toMatch(/^worker:1 \| process 1 of 2, 2 devices in all$/m);
    expect(stdout).toMatch(/^worker:0 \| y = 3\.00 x \+ 2\.00$/m);
    expect(exitCode).toBe(0);
  }, 600_000);
});
