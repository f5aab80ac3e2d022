import { afterAll, afterEach, expect } from "@jest/globals";
import { parseHostPort } from "../../src/hadoop/conf/values.ts";
import { type Choose, everyThird } from "../support/answer-fates.ts";
import { testCluster } from "../support/cluster.ts";
import { LossyProxy } from "../support/lossy-proxy.ts";
import { LossyWebProxy } from "../support/lossy-web-proxy.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";
import { testWhereOpen } from "../support/where-open.ts";

const cluster = await testCluster();
const lossyTest = testWhereOpen(cluster, "privacy hides whose answer is lost");
const alice = new Person(cluster);
const proxies: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await sweep(cluster);
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});
afterAll(() => alice.leave());

async function proxyTo(address: string, choose: Choose): Promise<LossyProxy> {
  const target = parseHostPort(address);
  if (target === undefined) throw new Error(`${address} is no address`);
  const proxy = await LossyProxy.start(target, choose);
  proxies.push(proxy);
  return proxy;
}

lossyTest(
  "a job whose client, ApplicationMaster and executors lose every third answer, of YARN and of HDFS, succeeds at once",
  async () => {
    const client = await proxyTo(cluster.endpoints.resourceManagerRpc, everyThird("cut"));
    const master = await proxyTo(cluster.endpoints.schedulerRpc, (method, nth) =>
      everyThird(method === "registerApplicationMaster" ? "drop" : "cut")(method, nth),
    );
    const files = await LossyWebProxy.start(new URL(cluster.endpoints.webHdfs).host, everyThird("cut"));
    proxies.push(files);
    const output = `hdfs:///user/alice/lossy-${Date.now()}`;
    const job = alice.job("lossy", {
      ...oneTask,
      "tony.worker.command": "mkdir out; for n in 1 2 3; do echo $n > out/$n; done",
      "tony.output.local-dir": "out",
      "tony.output.dir": output,
    });
    const { exitCode, stdout, stderr } = await alice.run(
      ...["submit", "--conf", job],
      ...["--conf", `yarn.resourcemanager.address=${client.address}`],
      ...["--conf", `yarn.resourcemanager.scheduler.address=${master.address}`],
      ...["--conf", `dfs.namenode.http-address=${files.address}`],
    );
    expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0 · 0 restarts/);
    expect(stdout).not.toMatch(/AM restarted/);
    expect(stderr).toMatch(/^The ResourceManager at .* does not answer; still trying, for 15 min/m);
    expect(exitCode).toBe(0);
    expect(client.fates.answers.get("submitApplication")).toBe(2);
    expect(master.fates.answers.get("registerApplicationMaster")).toBe(2);
    expect(stdout).toContain("lossy-");
  },
);

lossyTest("a submission that is never answered is looked up, and followed when it was taken", async () => {
  const client = await proxyTo(cluster.endpoints.resourceManagerRpc, (method) =>
    method === "submitApplication" ? "cut" : "pass",
  );
  const { exitCode, stdout } = await alice.run(
    ...["submit", "--conf", alice.job("unanswered", oneTask)],
    ...["--conf", `yarn.resourcemanager.address=${client.address}`],
    ...["--conf", "yarn.resourcemanager.connect.max-wait.ms=500"],
  );
  expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0/);
  expect(exitCode).toBe(0);
});
