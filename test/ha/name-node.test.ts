import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { Failover, type Manner } from "../support/failover.ts";
import { FaultSuite } from "../support/fault-suite.ts";

const cluster = await testCluster();
const folder = mkdtempSync(join(tmpdir(), "tony-ha-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file that no cache has, large enough to be on its way for a while. */
function newFile(name: string): string {
  const file = join(folder, name);
  writeFileSync(file, randomBytes(64 << 20));
  return file;
}

describe.each<Manner>(["killed", "relieved"])("the active NameNode is %s", (manner) => {
  const suite = new FaultSuite(cluster);
  const failover = new Failover(cluster, suite);

  test("while a job is uploaded, localised, starts again, and ends: it goes on, and its end is kept", async () => {
    const files = { "tony.containers.resources": newFile(`data-${manner}`) };
    let end = await failover.of("NameNode", manner);
    const job = await suite.submit({ settings: { "tony.am.retry-count": "1", ...files } });
    end();
    await job.client.output(/ACCEPTED|AM running/);
    end = await failover.of("NameNode", manner);
    end();
    const first = await job.running(1);
    end = await failover.of("NameNode", manner);
    process.kill(first[1]?.pid ?? Number.NaN, "SIGKILL");
    end();
    const second = await job.running(2);
    expect(second.map(({ containerId }) => containerId)).toEqual(first.map(({ containerId }) => containerId));
    end = await failover.of("NameNode", manner);
    job.letEnd();
    end();
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/SUCCEEDED +2 of 2 tasks exited 0 · 1 restart/);
    expect(exitCode).toBe(0);
    expect(job.starts()).toEqual([...first, ...second]);
    expect(await job.status("its end", ({ outcome }) => outcome !== undefined)).toMatchObject({
      outcome: { result: "succeeded" },
    });
  });
});
