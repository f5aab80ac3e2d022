import path from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { fileSystemsOf } from "../support/file-systems.ts";

const cluster = await testCluster();
const { fileSystem } = fileSystemsOf(cluster, ClusterUser.alice).locate("/");
const folder = "/user/alice/feed-faults";
const SPLITS = 10;
const ROWS = SPLITS * 131_072;

describe("a training that sums its input", () => {
  const suite = new FaultSuite(cluster);
  afterAll(() => fileSystem.delete(folder, { recursive: true }));

  test("has each row once in its model, although a worker, the ApplicationMaster and a node were lost in the middle", async () => {
    const rows = Array.from({ length: ROWS }, (_, number) => `${String(number).padStart(7, "0")}\n`).join("");
    await fileSystem.mkdirs(folder, 0o755);
    await fileSystem.create(`${folder}/rows`, Buffer.from(rows), { permission: 0o644, overwrite: true });
    const job = await suite.submit({
      program: "PYTHONPATH=. python3 summing.py",
      settings: {
        // No node has room for the ApplicationMaster and both workers: one of them is on another.
        "tony.am.memory": "3g",
        "tony.worker.memory": "3g",
        "tony.task.mass-silence-timeout": "10s",
        "tony.containers.resources": ["python/src/tony_ts", "test/faults/summing.py"]
          .map((one) => path.resolve(one))
          .join(","),
        "tony.am.retry-count": "2",
        "tony.checkpoint.local-dir": "checkpoints",
        "tony.application.checkpoint-dir": "feed-faults-checkpoints",
        "tony.feed.train.input": folder,
        "tony.feed.train.format": "fixed",
        "tony.feed.train.record-size": "8",
        "tony.feed.train.split-size": "1m",
        "tony.feed.train.window": "1",
        "tony.feed.train.shuffle": "3",
      },
    });
    const bothAt = (step: number) =>
      eventually(`step ${step}`, () => [0, 1].every((index) => job.wrote(`at-${step}-${index}`)));
    const saved = (step: number) => job.status("the checkpoint", ({ checkpoint }) => (checkpoint?.step ?? 0) >= step);

    await bothAt(20);
    await saved(16);
    process.kill((await job.running(1))[1]?.pid ?? 0, "SIGKILL");
    await job.running(2);
    job.write("past-20");
    await bothAt(28);
    await job.journaled();
    process.kill(await job.master(), "SIGKILL");
    job.write("past-28");
    await bothAt(36);
    const { tasks } = await job.status("the second attempt", ({ attempt }) => attempt === 2);
    await saved(32);
    const master = job.nodeOfMaster(2);
    const node = cluster.nodes.find(
      ({ name, nodeId }) => name !== master && tasks.some(({ host }) => nodeId.startsWith(`${host}:`)),
    );
    if (node === undefined) throw new Error(`no worker is beside ${master}`);
    await suite.loseNode(node);
    await job.status("the third generation", ({ generation }) => generation === 3);
    // Where there are two nodes the other one alone has no room for all.
    await suite.mend();
    await job.running(3);
    job.write("past-36");

    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 2 restarts/);
    expect(exitCode).toBe(0);
    expect(job.read("model")).toBe(String((ROWS * (ROWS - 1)) / 2));
  });
});
