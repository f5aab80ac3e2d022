import { afterAll, afterEach, expect, test } from "@jest/globals";
import { parseHostPort } from "../../src/hadoop/conf/values.ts";
import { testCluster } from "../support/cluster.ts";
import { type Choose, type Fate, LossyProxy } from "../support/lossy-proxy.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const alice = new Person(cluster);
const proxies: LossyProxy[] = [];
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

/** The first answer to each method is lost, and every third after it. */
const often =
  (fate: Fate): Choose =>
  (_, nth) =>
    nth % 3 === 1 ? fate : "pass";

test("a job whose client and ApplicationMaster lose every third answer, registration and submission among them, succeeds at once", async () => {
  const client = await proxyTo(cluster.endpoints.resourceManagerRpc, often("cut"));
  const master = await proxyTo(cluster.endpoints.schedulerRpc, (method, nth) =>
    often(method === "registerApplicationMaster" ? "drop" : "cut")(method, nth),
  );
  const { exitCode, stdout, stderr } = await alice.run(
    ...["submit", "--conf", alice.job("lossy", oneTask)],
    ...["--conf", `yarn.resourcemanager.address=${client.address}`],
    ...["--conf", `yarn.resourcemanager.scheduler.address=${master.address}`],
  );
  expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0 · 0 restarts/);
  expect(stdout).not.toMatch(/AM restarted/);
  expect(stderr).toMatch(/^The ResourceManager at .* does not answer; still trying, for 15 min/m);
  expect(exitCode).toBe(0);
  expect(client.answers.get("submitApplication")).toBe(2);
  expect(master.answers.get("registerApplicationMaster")).toBe(2);
});

test("a submission that is never answered is looked up, and followed when it was taken", async () => {
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
