import { afterAll, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const { httpFs = "no HttpFS" } = cluster.endpoints;
const alice = new Person(cluster);
afterAll(async () => {
  await alice.leave();
  await sweep(cluster);
});

const byGateway = ["--conf", `tony.hdfs.endpoint=${httpFs}`];
/** A NameNode's web address that nobody can reach. */
const walledOff = ["--conf", "dfs.namenode.https-address=127.0.0.1:1"];
/** Executors upload what programs leave, so that client, ApplicationMaster and executor all ask the gateway. */
const uploads = {
  ...oneTask,
  "tony.worker.command": "echo result; echo 42 > out/result",
  "tony.output.local-dir": "out",
  "tony.output.dir": "hdfs:///user/alice/by-httpfs",
};

test("behind an HttpFS a job runs by its token, and the ResourceManager's of a NameNode that the client cannot reach", async () => {
  const job = alice.job("walled-off", uploads);
  const { exitCode, stdout } = await alice.run("submit", "--conf", job, ...byGateway, ...walledOff);
  expect(stdout).toMatch(/^ {2}tokens {2}YARN stores no logs of this job, .*: no token of it is among them$/m);
  expect(stdout).toContain("worker:0 | result\n");
  expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0/);
  expect(stdout).toMatch(/output .*by-httpfs.* \(1 file, 3 B\)/);
  expect(exitCode).toBe(0);
});

test("behind an HttpFS, with a token of the NameNode, a job's logs are stored, and read through it", async () => {
  const job = alice.job("gateway", uploads);
  const { stdout } = await alice.run("submit", "--conf", job, ...byGateway);
  expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0/);
  const [id = "no id"] = /application_\d+_\d+/.exec(stdout) ?? [];
  expect((await alice.run("logs", id, "worker:0", ...byGateway, ...walledOff)).stdout).toBe("result\n");
});

test("where the ResourceManager obtains no token of the NameNode, who cannot reach it is told", async () => {
  const none = ["--conf", "yarn.resourcemanager.proxy-user-privileges.enabled=false"];
  const job = alice.job("no-token", oneTask);
  const { exitCode, stderr } = await alice.run("submit", "--conf", job, ...byGateway, ...walledOff, ...none);
  expect(stderr).toMatch(/gives no delegation token: .*; nodes need it: .*proxy-user-privileges\.enabled=true/);
  expect(exitCode).toBe(3);
});
