import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../../support/cluster.ts";
import { runExample } from "../../support/examples.ts";
import { Person } from "../../support/person.ts";
import { pythonEnvironment } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();

describe("the example of Dask", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("both workers of a cluster compute for a program, and are stopped at its end", async () => {
    const { exitCode, stdout } = await runExample(alice, await pythonEnvironment("dask"), "dask");
    expect(stdout).toMatch(/^main:0 +\| sum of squares 328350, computed by 2 workers$/m);
    expect(stdout).toContain("1 of 1 tracked task exited 0");
    expect(exitCode).toBe(0);
  }, 600_000);
});
