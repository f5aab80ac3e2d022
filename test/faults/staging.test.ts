import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import type { FaultJob } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { requestJson } from "../support/http-json.ts";

const cluster = await testCluster();

describe("a staging folder that takes no more", () => {
  const suite = new FaultSuite(cluster);

  test("holds up a new generation, which says why and starts when there is room again; the end waits for nothing", async () => {
    const job = await suite.submit({ settings: { "tony.am.retry-count": "1" } });
    const before = await job.running(1);
    await job.journaled();
    await setQuota(job, 1);
    process.kill(before[1]?.pid ?? Number.NaN, "SIGKILL");
    await eventually("word that the journal waits", () => job.masterLog().includes('"event":"journal-failed"'));
    const waiting = await job.status("the wait", ({ waits }) => waits.some(({ what }) => what.includes("journal")));
    expect(JSON.stringify(waiting.waits)).toMatch(/quota/i);
    expect(job.starts()).toEqual(before);

    await setQuota(job, -1);
    const again = await job.running(2);
    expect(again.map(({ containerId }) => containerId)).toEqual(before.map(({ containerId }) => containerId));

    await setQuota(job, 1);
    const { exitCode, stdout } = await job.end();
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 1 restart/);
    expect(exitCode).toBe(0);
  });
});

/** How many bytes the job's staging folder may hold; −1: any. */
async function setQuota(job: FaultJob, bytes: number): Promise<void> {
  const { endpoints, users } = cluster;
  const query = `op=SETQUOTA&namespacequota=-1&storagespacequota=${bytes}&user.name=${users.hdfs.name}`;
  const { status, body } = await requestJson(`${endpoints.webHdfs}${job.staging}?${query}`, { method: "PUT" });
  if (status !== 200) throw new Error(`the quota was not set: ${JSON.stringify(body)}`);
}
