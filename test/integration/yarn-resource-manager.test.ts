import { afterAll, describe, expect, test } from "@jest/globals";
import { simpleCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { applicationIn, endpointsOf, resourceManagerOf, sleeper, smallest } from "../support/yarn.ts";

const cluster = await testCluster();
const client = resourceManagerOf(cluster);
afterAll(() => client.close());

describe("what the cluster is", () => {
  test("metrics and nodes agree", async () => {
    const nodes = await client.nodes(["RUNNING"]);
    expect((await client.metrics()).activeNodeManagers).toBe(nodes.length);
    expect(nodes.map(({ nodeId }) => nodeId).sort()).toEqual(cluster.nodes.map(({ nodeId }) => nodeId).sort());
    expect(nodes.every(({ capability, rack }) => capability.memoryMiB > 0 && rack === "/default-rack")).toBe(true);
    expect(await client.nodes(["DECOMMISSIONED"])).toEqual([]);
  });

  test("the GPU is a resource type, and a node has it and its label", async () => {
    expect(await client.resourceTypes()).toContainEqual({ name: "yarn.io/gpu", units: "" });
    const gpuNodes = (await client.nodes()).filter(({ capability }) => (capability.others["yarn.io/gpu"] ?? 0) > 0);
    expect(gpuNodes.length).toBeGreaterThan(0);
    expect((await client.nodeLabels()).map(({ name }) => name)).toContain("gpu");
    expect(gpuNodes.map(({ labels }) => labels)).toEqual(gpuNodes.map(() => ["gpu"]));
  });

  test("queues are listed with their children, and an unknown one is nothing", async () => {
    const root = await client.queue("root", { children: true, recursive: true });
    expect(root?.children.map(({ name }) => name).sort()).toEqual(["default", "ml"]);
    expect(root?.state).toBe("RUNNING");
    const found = await client.queue("nowhere").catch((error) => error.code);
    expect([undefined, "REMOTE_EXCEPTION"]).toContain(found);
    expect((await client.queueUserAcls()).get("root.default")).toContain("SUBMIT_APPLICATIONS");
  });
});

describe("an application's life", () => {
  test("is submitted, seen, listed and killed", async () => {
    const { id, maximum } = await client.newApplication();
    expect(maximum.memoryMiB).toBeGreaterThanOrEqual(1024);
    const submission = sleeper(id, {
      type: "PROBE",
      tags: ["tag-one", id],
      priority: 1,
      lifetimeSeconds: 600,
      keepContainers: true,
      attemptFailuresValidityIntervalMs: 600_000,
      logAggregation: { rolledInclude: ".*", rolledExclude: "" },
    });
    await client.submit(submission);
    await client.submit(submission);
    const accepted = await applicationIn(client, id, "ACCEPTED");
    expect(accepted).toMatchObject({ user: "alice", name: "sleeper", type: "PROBE", finalStatus: "UNDEFINED" });
    expect(accepted.tags).toContain("tag-one");

    expect(accepted.currentAttemptId).toMatch(/^appattempt_.*_000001$/);

    const states = { states: ["ACCEPTED", "RUNNING"] } as const;
    const tagged = { tags: [id], types: ["PROBE"], users: ["alice"], queues: ["default"], limit: 5, ...states };
    expect((await client.reports(tagged)).map((report) => report.id)).toEqual([id]);
    expect(await client.reports({ ...tagged, users: ["bob"] })).toEqual([]);
    const begun = { startedMs: { from: accepted.startTimeMs, to: accepted.startTimeMs } };
    expect((await client.reports({ ...tagged, ...begun })).map((report) => report.id)).toEqual([id]);
    expect(await client.reports({ ...tagged, startedMs: { from: accepted.startTimeMs + 1 } })).toEqual([]);
    const queue = await client.queue("default", { applications: true });
    expect(queue?.applications.map((report) => report.id)).toContain(id);

    await client.kill(id, { diagnostics: "the test is done with it" });
    const killed = await applicationIn(client, id, "KILLED");
    expect(killed.diagnostics).toContain("the test is done with it");
    expect(killed.finishTimeMs).toBeGreaterThan(0);
    await client.kill(id);
  });
});

describe("what YARN refuses", () => {
  test("an unknown application keeps Java's class and message", async () => {
    const unknown = await client.report("application_1_0001").catch((error) => error);
    expect(unknown).toMatchObject({
      code: "APPLICATION_NOT_FOUND",
      javaClass: "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException",
      retryable: false,
    });
    expect(unknown.javaMessage).toContain("application_1_0001");
    expect(unknown.javaStack).toContain("ClientRMService");
  });

  test("a master larger than the cluster's maximum", async () => {
    const { id, maximum } = await client.newApplication();
    const masterResource = { ...smallest, memoryMiB: maximum.memoryMiB + 1 };
    await expect(client.submit(sleeper(id, { masterResource }))).rejects.toMatchObject({
      code: "INVALID_RESOURCE_REQUEST",
    });
  });

  test("an unknown queue shows as a failed application", async () => {
    const { id } = await client.newApplication();
    const refused = await client.submit(sleeper(id, { queue: "nowhere" })).catch((error) => error);
    const told = refused?.message ?? (await applicationIn(client, id, "FAILED")).diagnostics;
    expect(told).toMatch(/queue.*nowhere|nowhere.*queue/i);
  });

  test("a resource type that it does not know is refused before it is asked", async () => {
    const { id } = await client.newApplication();
    const masterResource = { ...smallest, others: { "yarn.io/tpu": 1 } };
    await expect(client.submit(sleeper(id, { masterResource }))).rejects.toMatchObject({
      code: "RESOURCE_TYPE_UNKNOWN",
      resourceType: "yarn.io/tpu",
    });
  });
});

test("a web port is told from an RPC port", async () => {
  const http = new ResourceManagerClient({
    endpoints: endpointsOf(new URL(cluster.endpoints.resourceManager).host),
    credentials: simpleCredentials({ name: ClusterUser.alice }),
  });
  await expect(http.metrics()).rejects.toMatchObject({
    code: "RPC_PROTOCOL",
    message: expect.stringMatching(/HTTP server/),
  });
  http.close();
});
