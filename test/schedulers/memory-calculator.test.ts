import { afterAll, afterEach, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const alice = new Person(cluster);
afterAll(() => alice.leave());
afterEach(() => sweep(cluster));

/** More than the node has, with one for the ApplicationMaster. */
const threeTasks = { ...oneTask, "tony.worker.instances": 3 };

test("a job runs on a node that gives out more cores than it has, and beside another one that does", async () => {
  const long = alice.job("long", { ...threeTasks, "tony.worker.command": "sleep 600" });
  const { stdout } = await alice.run("submit", "--conf", long, "--detach");
  const id = stdout.trim();
  await eventually("the first job to run", async () => {
    const shown = await alice.run("status", id, "--json");
    return /"running": 3\b/.test(shown.stdout);
  });

  const { exitCode, stdout: followed } = await alice.run("submit", "--conf", alice.job("quick", threeTasks));
  expect(followed).toMatch(/SUCCEEDED +3 of 3 tasks exited 0 · 0 restarts/);
  expect(exitCode).toBe(0);

  expect((await alice.run("kill", id)).exitCode).toBe(0);
});

test("a job that the ResourceManager has forgotten is told from what its ApplicationMaster left", async () => {
  const job = alice.job("talker", { ...oneTask, "tony.worker.command": "echo said before" });
  const { stdout } = await alice.run("submit", "--conf", job, "--detach");
  const id = stdout.trim();
  await alice.run("wait", id);
  // The ResourceManager of this cluster remembers one application that has ended.
  await alice.run("submit", "--conf", alice.job("later", oneTask));

  const status = await alice.run("status", id);
  expect(status.stdout).toContain("SUCCEEDED");
  expect(status.exitCode).toBe(0);
  expect((await alice.run("logs", id)).stdout).toContain("said before");
});
