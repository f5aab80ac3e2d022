import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { Failover, type Manner } from "../support/failover.ts";
import { FaultSuite } from "../support/fault-suite.ts";

const cluster = await testCluster();

describe("the ResourceManager fails over", () => {
  const suite = new FaultSuite(cluster);
  const failover = new Failover(cluster, suite);

  test.each<Manner>(["killed", "handed-over"])(
    "while a job runs (%s): neither it nor its client notices",
    async (manner) => {
      const job = await suite.submit();
      const before = await job.running(1);
      await failover.of("ResourceManager", manner);
      const { exitCode, stdout } = await job.end();
      expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
      expect(exitCode).toBe(0);
      expect(job.starts()).toEqual(before);
    },
  );
});
