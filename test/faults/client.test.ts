import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import type { FaultJob } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { viewApplication } from "../support/rest-application.ts";

const cluster = await testCluster();

describe("the client", () => {
  const suite = new FaultSuite(cluster);
  const ended = (job: FaultJob) =>
    eventually("the job's end", async () => {
      const { state, diagnostics } = await viewApplication(cluster, job.id);
      return state === "FINISHED" ? diagnostics : undefined;
    });

  test("is killed while it follows, and the ApplicationMaster too: the job runs to its end", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    await job.journaled();
    const master = await job.master();
    job.client.process.kill("SIGKILL");
    process.kill(master, "SIGKILL");
    await job.master({ otherThan: master });
    job.letEnd();
    expect(await ended(job)).toBe("2 of 2 tasks exited 0");
    expect(job.starts()).toEqual(before);
  });

  test("is stopped for a while: the job does not wait for it, and it tells the outcome when it goes on", async () => {
    const job = await suite.submit();
    await job.running(1);
    job.client.process.kill("SIGSTOP");
    job.letEnd();
    await ended(job);
    job.client.process.kill("SIGCONT");
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/SUCCEEDED/);
    expect(exitCode).toBe(0);
  });
});
