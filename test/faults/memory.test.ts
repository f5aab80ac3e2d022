import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { WAITS } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";

const cluster = await testCluster();

describe("a container that outgrows", () => {
  const suite = new FaultSuite(cluster);

  test("its memory: the root cause says so and names the key to raise", async () => {
    const grow = `test $TASK_INDEX = 1 && python3 -c 'import time; held = bytearray(900 << 20); time.sleep(600)'; ${WAITS}`;
    const job = await suite.submit({ program: grow });
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/^Root cause {3}worker:1 .*memory/m);
    expect(stdout).toMatch(/^ +→ raise tony\.worker\.memory \(.*job\.xml:\d+\)/m);
    expect(exitCode).toBe(1);
  });

  test("its virtual memory alone: the same, and the site's setting is named too", async () => {
    // Reserved and never touched: 2.1 times the container's memory is YARN's limit.
    const reserve = `test $TASK_INDEX = 1 && python3 -c 'import mmap, time; held = mmap.mmap(-1, 3 << 30); time.sleep(600)'; ${WAITS}`;
    const job = await suite.submit({ program: reserve });
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/^Root cause {3}worker:1 .*virtual memory/m);
    expect(stdout).toMatch(/tony\.worker\.memory \(.*job\.xml:\d+\)/m);
    expect(stdout).toContain("yarn.nodemanager.vmem-pmem-ratio");
    expect(exitCode).toBe(1);
  });
});
