import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { StatusJson } from "../../client/printed-json.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { ClusterUser, environmentFor, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { sweep } from "../support/sweep.ts";
import { tonyTs } from "../support/tony-ts.ts";

const cluster = await testCluster();
const alice = environmentFor(cluster, ClusterUser.alice);
const bob = environmentFor(cluster, ClusterUser.bob);

const job = (command: string) => `<configuration>
<property><name>tony.application.framework</name><value>generic</value></property>
<property><name>tony.am.memory</name><value>512m</value></property>
<property><name>tony.worker.memory</name><value>512m</value></property>
<property><name>tony.worker.instances</name><value>1</value></property>
<property><name>tony.worker.command</name><value>${command}</value></property>
</configuration>
`;

describe("what a job that waits says and holds, beside another user's", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "waits-"));
    await writeFile(join(folder, "long.xml"), job("sleep 600"));
    await writeFile(join(folder, "short.xml"), job("true"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  afterEach(() => sweep(cluster));

  async function submitted(env: typeof alice, ...options: readonly string[]): Promise<string> {
    const { stdout } = await tonyTs(["submit", "--conf", join(folder, "long.xml"), "--detach", ...options], env);
    return stdout.trim();
  }

  async function statusOf(id: string, env: typeof alice): Promise<StatusJson> {
    return JSON.parse((await tonyTs(["status", id, "--json"], env)).stdout) as StatusJson;
  }

  /** The reasons of a job's first wait, once they have what is looked for. */
  function reasonsOf(id: string, looksFor: RegExp): Promise<JobStatus> {
    return eventually(`${id} to say ${looksFor}`, async () => {
      const { status } = await statusOf(id, alice);
      return looksFor.test(status.waits.flatMap(({ reasons }) => reasons).join("; ")) ? status : undefined;
    });
  }

  const killed = (id: string, env: typeof alice) => tonyTs(["kill", id], env);

  test("names the GPU that is short, who has it, and neither memory nor cores", async () => {
    const holder = await submitted(bob, "-conf", "tony.worker.gpus=2", "-conf", "tony.application.name=bert");
    await eventually("its start", async () => (await statusOf(holder, bob)).status.state === "running");
    const waiting = await submitted(alice, "-conf", "tony.worker.gpus=1");
    const { waits } = await reasonsOf(waiting, /too few GPUs; free: .* 0 GPUs/);
    expect(waits[0]?.reasons[1]).toBe(`GPUs in use: ${holder} (bert of bob in queue default: 2 GPUs)`);
    expect(waits[0]?.reasons.join()).not.toMatch(/too little memory|too few cores/);
    // Less than its only GPU is another job.
    expect(waits[0]?.remedy).toBe("wait for other jobs to end");
    await killed(waiting, alice);
    await killed(holder, bob);
  });

  test("a gang that needs more than the cluster has holds its AM alone, and another's job runs", async () => {
    const large = await submitted(alice, "-conf", "tony.worker.instances=200");
    await reasonsOf(large, /waiting will not help.*the job holds no container but its AM's/);
    expect((await tonyTs(["submit", "--conf", join(folder, "short.xml")], bob)).exitCode).toBe(0);
    expect((await statusOf(large, alice)).report.usage).toMatchObject({ usedContainers: 1 });
    await killed(large, alice);
  });
});
