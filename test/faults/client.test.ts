import { afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { FaultJob } from "../support/fault-job.ts";
import { eventually, viewApplication } from "../support/rest-application.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

describe("the client", () => {
  let job: FaultJob;
  afterEach(async () => {
    await job.dispose();
    await sweep(cluster);
  }, 90_000);
  const ended = () =>
    eventually("the job's end", async () => {
      const { state, diagnostics } = await viewApplication(cluster, job.id);
      return state === "FINISHED" ? diagnostics : undefined;
    });

  test("is killed as soon as the cluster has the job: the job runs to its end", async () => {
    job = await FaultJob.submit(cluster);
    await job.client.output(/ACCEPTED|AM running/);
    job.client.process.kill("SIGKILL");
    const before = await job.running(1);
    job.letEnd();
    expect(await ended()).toBe("2 of 2 tasks exited 0");
    expect(job.starts()).toEqual(before);
  }, 120_000);

  test("is killed while it follows, and the ApplicationMaster too: the job runs to its end", async () => {
    job = await FaultJob.submit(cluster);
    const before = await job.running(1);
    await job.journaled();
    const master = await job.master();
    job.client.process.kill("SIGKILL");
    process.kill(master, "SIGKILL");
    await job.master({ otherThan: master });
    job.letEnd();
    expect(await ended()).toBe("2 of 2 tasks exited 0");
    expect(job.starts()).toEqual(before);
  }, 120_000);

  test("is stopped for a while: the job does not wait for it, and it tells the outcome when it goes on", async () => {
    job = await FaultJob.submit(cluster);
    await job.running(1);
    job.client.process.kill("SIGSTOP");
    job.letEnd();
    await ended();
    job.client.process.kill("SIGCONT");
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/SUCCEEDED/);
    expect(exitCode).toBe(0);
  }, 120_000);
});
