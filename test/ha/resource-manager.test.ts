import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { Failover, type Manner } from "../support/failover.ts";
import { WAITS } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";

const cluster = await testCluster();

describe.each<Manner>(["killed", "relieved"])("the active ResourceManager is %s", (manner) => {
  const suite = new FaultSuite(cluster);
  const failover = new Failover(cluster, suite);

  test("while a job is submitted, starts again, and ends: each program runs once in each generation, in the same container", async () => {
    let end = await failover.of("ResourceManager", manner);
    const job = await suite.submit({ settings: { "tony.am.retry-count": "1" } });
    end();
    const first = await job.running(1);
    end = await failover.of("ResourceManager", manner);
    process.kill(first[1]?.pid ?? Number.NaN, "SIGKILL");
    end();
    const second = await job.running(2);
    expect(second.map(({ containerId }) => containerId)).toEqual(first.map(({ containerId }) => containerId));
    end = await failover.of("ResourceManager", manner);
    job.letEnd();
    end();
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 1 restart/);
    expect(exitCode).toBe(0);
    expect(job.starts()).toEqual([...first, ...second]);
  });

  test("while a job's ApplicationMaster registers, another's executors are launched, and commands ask for them", async () => {
    let end = await failover.of("ResourceManager", manner);
    const job = await suite.submit({ program: `echo it runs; ${WAITS}` });
    const master = await job.master();
    end();
    const starts = await job.running(1);
    expect(await job.master()).toBe(master);
    end = await failover.of("ResourceManager", manner);
    const other = await suite.submit();
    await other.anyExecutor();
    end();
    await other.running(1);
    end = await failover.of("ResourceManager", manner);
    end();
    const [killed, logs, status] = await Promise.all([
      other.command("kill"),
      job.command("logs", "worker:0"),
      job.command("status"),
    ]);
    expect(killed).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("KILLED") });
    expect(logs).toMatchObject({ exitCode: 0, stdout: "it runs\n" });
    expect(status).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/RUNNING|ACCEPTED/) });
    expect((await other.client.ended).stdout).toMatch(/KILLED/);
    expect((await job.end()).stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect([...job.starts(), ...other.starts()]).toHaveLength(4);
    expect(job.starts()).toEqual(starts);
  });

  test("while a gang holds one of its two containers: it keeps that one, and gets the other when there is room", async () => {
    // Wherever its two containers and the other job's ApplicationMaster are, one node has room for a large one, and not both.
    const occupant = await suite.submit({ workers: 1 });
    await occupant.running(1, 1);
    const gathering = await suite.submit({ settings: { "tony.worker.memory": "7424m" } });
    await gathering.anyExecutor();
    const held = await gathering.status("one container", ({ roles }) => roles[0]?.registered === 1);
    const end = await failover.of("ResourceManager", manner);
    end();
    expect((await occupant.end()).stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0 · 0 restarts/);
    const starts = await gathering.running(1);
    const kept = held.tasks.flatMap(({ containerId = [] }) => containerId);
    expect(starts.map(({ containerId }) => containerId)).toEqual(expect.arrayContaining(kept));
    expect((await gathering.end()).stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 0 restarts/);
    expect(gathering.starts()).toEqual(starts);
  });
});
