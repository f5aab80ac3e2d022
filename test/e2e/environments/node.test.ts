import { copyFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../../support/cluster.ts";
import { Person } from "../../support/person.ts";
import { nodeRelease } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();

describe("the Node that a job runs on", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test.each([20, 22, 24] as const)("Node %i", async (major) => {
    const node = await nodeRelease(major);
    const job = alice.job(`node${major}`, {
      "tony.application.framework": "generic",
      "tony.node.binary": node,
      "tony.worker.instances": 1,
      "tony.worker.memory": "700m",
      "tony.worker.command": "echo Node $(./node --version)",
    });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job);
    expect(stdout).toMatch(new RegExp(`^worker:0 \\| Node v${major}\\.`, "m"));
    expect(exitCode).toBe(0);
  });

  test("one that every node has is used where it is: doctor tries it, and nothing of it is sent", async () => {
    const installed = path.join(alice.shared("opt"), "node");
    copyFileSync(process.execPath, installed);
    const runtime = `tony.node.binary=local:${installed}`;
    expect(await alice.json("doctor", "--conf", runtime)).toMatchObject({
      findings: expect.arrayContaining([
        { subject: "runtime", state: "well", found: `${installed} of the nodes is used` },
        expect.objectContaining({ subject: "nodes", state: "well" }),
      ]),
    });
    const job = alice.job("installed", {
      "tony.application.framework": "generic",
      "tony.worker.instances": 1,
      "tony.worker.memory": "700m",
      "tony.worker.command": "readlink /proc/$PPID/exe; test ! -e node",
    });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "-conf", runtime);
    expect(stdout).toMatch(new RegExp(`^worker:0 \\| ${installed}$`, "m"));
    expect(exitCode).toBe(0);
  });

  test("one that no node has is named, with the key", async () => {
    const runtime = "tony.node.binary=local:/opt/no/node";
    const doctor = await alice.run("doctor", "--conf", runtime);
    expect(doctor.stdout).toMatch(/✗ nodes .*\/opt\/no\/node: No such file.*\n +→ set tony\.node\.binary/);
    expect(doctor.exitCode).toBe(3);
  });
});
