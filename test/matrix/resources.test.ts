import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { FaultSuite } from "../support/fault-suite.ts";

const cluster = await testCluster();
const { calculator, scheduler } = cluster.settings;

/** What a scheduler gives, and what it does not know. */
describe("of this cluster's resources", () => {
  const suite = new FaultSuite(cluster);
  const gpu = { workers: 1, program: "true", settings: { "tony.worker.gpus": "1" } };
  const labelled = {
    workers: 2,
    program: "true",
    settings: { "tony.yarn.queue": "ml", "tony.application.node-label": "gpu" },
  };

  test("a gang of 13", async () => {
    const job = await suite.submit({ workers: 13, program: "true" });
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/SUCCEEDED +13 of 13 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);
  });

  test("a task out of memory", async () => {
    // Past the container's memory, and within the virtual memory of 2.1 times as much.
    const program = "python3 -c 'import time; held = bytearray(1100 << 20); time.sleep(600)'";
    const job = await suite.submit({ workers: 1, program, settings: { "tony.worker.memory": "1g" } });
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/^Root cause {3}worker:0 ran out of memory on .*: used 1\.\d GB of 1 GB, .*exit -104/m);
    expect(stdout).toMatch(/^ +→ raise tony\.worker\.memory \(.*job\.xml:\d+\)/m);
    expect(exitCode).toBe(1);
  });

  if (calculator === "default") {
    test("GPUs are refused where memory alone is counted", async () => {
      const refused = suite.submit(gpu);
      await expect(refused).rejects.toThrow(/yarn\.io\/gpu/);
    });
  } else {
    test("GPUs", async () => {
      const { exitCode, stdout } = await (await suite.submit(gpu)).client.ended;
      expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0/);
      expect(exitCode).toBe(0);
    });
  }

  if (scheduler === "fair") {
    test("a node label is refused where the scheduler knows none", async () => {
      await expect(suite.submit(labelled)).rejects.toThrow(/label/);
    });
  } else {
    test("a node label", async () => {
      const [, node] = cluster.addresses.nodes;
      const { exitCode, stdout } = await (await suite.submit(labelled)).client.ended;
      expect(stdout).toContain(`worker:0 ${node} · worker:1 ${node}`);
      expect(exitCode).toBe(0);
    });
  }
});
