import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import type { FaultJob, ProgramStart } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { isRunning } from "../support/processes.ts";

const cluster = await testCluster();

describe("a daemon of Hadoop", () => {
  const suite = new FaultSuite(cluster);

  test("the ResourceManager is killed and comes back: the job never notices, the client follows on", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    await suite.kill("resourcemanager");
    await suite.mend();
    await expectUnharmed(job, before);
  });

  test("the ResourceManager is away while the programs end: the job ends when it is back", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    await suite.kill("resourcemanager");
    job.letEnd();
    await eventually("the programs' end", () => before.every(({ pid }) => !isRunning(pid)));
    await suite.mend();
    await expectSuccess(job);
  });

  test("the NodeManagers are killed and come back with what they had: the job never notices", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    await suite.kill(...cluster.nodes.map(({ name }) => name));
    await suite.mend();
    await expectUnharmed(job, before);
  });

  test("the NameNode and the DataNode are killed and come back: the job never notices", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    await suite.kill("namenode", "datanode");
    await suite.mend();
    await expectUnharmed(job, before);
  });

  test("the NameNode is away when a program fails: the next generation starts when it is back", async () => {
    const job = await suite.submit({ settings: { "tony.am.retry-count": "1" } });
    const before = await job.running(1);
    await job.journaled();
    await suite.kill("namenode");
    process.kill(before[1]?.pid ?? Number.NaN, "SIGKILL");
    await eventually("the first generation's end", () => !isRunning(before[0]?.pid ?? 0));
    await eventually("word that the journal waits", () => job.masterLog().includes('"event":"journal-failed"'));
    expect(job.starts()).toEqual(before);
    await suite.mend();
    const again = await job.running(2);
    expect(again.map(({ containerId }) => containerId)).toEqual(before.map(({ containerId }) => containerId));
    expect((await job.end()).exitCode).toBe(0);
  });

  test("all of them are stopped for a while: the programs run on, and the job ends when they go on", async () => {
    const job = await suite.submit();
    const before = await job.running(1);
    // YARN may well take an ApplicationMaster that it has not heard meanwhile for dead.
    await job.journaled();
    const daemons = cluster.daemons.map(({ name }) => name);
    await suite.stop(...daemons);
    // That nothing happens is to be shown by time passing; a NodeManager is given up after a minute.
    await sleep(8_000);
    await suite.continue(...daemons);
    await expectUnharmed(job, before);
  });
});

async function expectUnharmed(job: FaultJob, before: readonly ProgramStart[]): Promise<void> {
  expect(before.map(({ pid }) => isRunning(pid))).toEqual(before.map(() => true));
  job.letEnd();
  await expectSuccess(job);
  expect(job.starts()).toEqual(before);
}

async function expectSuccess(job: FaultJob): Promise<void> {
  const { exitCode, stdout } = await job.client.ended;
  expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
  expect(exitCode).toBe(0);
}
