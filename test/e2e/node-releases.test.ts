import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { Person } from "../support/person.ts";
import { nodeRelease } from "../support/provide.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** The Node that is sent to the nodes, whatever the client runs on. */
describe("a job on another release of Node", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test.each([20, 22, 24] as const)("Node %i", async (major) => {
    const node = await nodeRelease(major);
    const job = alice.job(`node${major}`, {
      "tony.application.framework": "standalone",
      "tony.node.binary": node,
      "tony.worker.instances": 1,
      "tony.worker.memory": "700m",
      "tony.worker.command": "echo Node $(./node --version)",
    });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job);
    expect(stdout).toMatch(new RegExp(`^worker:0 \\| Node v${major}\\.`, "m"));
    expect(exitCode).toBe(0);
  });
});
