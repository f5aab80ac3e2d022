import { describe, expect, test } from "@jest/globals";
import { yarn } from "../../../src/hadoop/wire/yarn.ts";
import {
  applicationReportFromWire,
  clusterMetricsFromWire,
  containerReportFromWire,
  nodeReportFromWire,
  queueInfoFromWire,
} from "../../../src/hadoop/yarn/convert-reports.ts";

const applicationId = { cluster_timestamp: 1_795_305_600_000, id: 7 };
const none = { memoryMiB: 0, vcores: 0, others: {} };

describe("an application's report", () => {
  const report: Parameters<typeof applicationReportFromWire>[0] = {
    applicationId,
    user: "ada",
    name: "train",
    queue: "ml",
    applicationType: "TONY",
    applicationTags: ["nightly", "gpu"],
    yarn_application_state: yarn.YarnApplicationStateProto.RUNNING,
    final_application_status: yarn.FinalApplicationStatusProto.APP_FAILED,
    currentApplicationAttemptId: { application_id: applicationId, attemptId: 2 },
    host: "node-3",
    rpc_port: 4_711,
    trackingUrl: "http://rm:8088/proxy/application_1795305600000_0007/",
    originalTrackingUrl: "https://node-3:4712/",
    diagnostics: "why",
    startTime: 11,
    launchTime: 12,
    finishTime: 13,
    progress: 0.5,
    priority: { priority: 4 },
    app_resource_Usage: {
      num_used_containers: 3,
      num_reserved_containers: 9,
      used_resources: { memory: 2_048, virtual_cores: 2 },
      reserved_resources: { memory: 9, virtual_cores: 9 },
      needed_resources: { memory: 4_096, virtual_cores: 4 },
      memory_seconds: 100,
      vcore_seconds: 200,
      application_resource_usage_map: [{ key: "yarn.io/gpu", value: 300 }],
    },
  };

  test("has all that the ResourceManager says", () => {
    expect(applicationReportFromWire(report)).toEqual({
      id: "application_1795305600000_0007",
      user: "ada",
      name: "train",
      queue: "ml",
      type: "TONY",
      tags: ["nightly", "gpu"],
      state: "RUNNING",
      finalStatus: "FAILED",
      currentAttemptId: "appattempt_1795305600000_0007_000002",
      amHost: "node-3",
      amRpcPort: 4_711,
      trackingUrl: "http://rm:8088/proxy/application_1795305600000_0007/",
      servesHttps: true,
      diagnostics: "why",
      startTimeMs: 11,
      launchTimeMs: 12,
      finishTimeMs: 13,
      progress: 0.5,
      priority: 4,
      usage: {
        usedContainers: 3,
        used: { memoryMiB: 2_048, vcores: 2, others: {} },
        needed: { memoryMiB: 4_096, vcores: 4, others: {} },
        memorySeconds: 100,
        vcoreSeconds: 200,
        resourceSeconds: { "yarn.io/gpu": 300 },
      },
    });
  });

  test("has no address, attempt or usage before there is one, though YARN writes N/A and −1", () => {
    expect(
      applicationReportFromWire({
        applicationId,
        host: "N/A",
        rpc_port: -1,
        trackingUrl: "N/A",
        originalTrackingUrl: "N/A",
        diagnostics: "N/A",
        currentApplicationAttemptId: { application_id: applicationId, attemptId: 0 },
      }),
    ).toEqual({
      ...{ id: "application_1795305600000_0007", user: "", name: "", queue: "", type: "", tags: [] },
      ...{ state: "NEW", finalStatus: "UNDEFINED", trackingUrl: "", diagnostics: "" },
      ...{ startTimeMs: 0, launchTimeMs: 0, finishTimeMs: 0, progress: 0, priority: 0 },
    });
  });

  test("may have port 0, and a page that is not served by HTTPS", () => {
    const changed = applicationReportFromWire({ ...report, rpc_port: 0, originalTrackingUrl: "http://node-3:4712/" });
    expect(changed.amRpcPort).toBe(0);
    expect(changed).not.toHaveProperty("servesHttps");
  });

  test("counts its usage by the list of types where that has memory and cores, and no containers below zero", () => {
    const application_resource_usage_map = [
      { key: "memory-mb", value: 1 },
      { key: "vcores", value: 2 },
    ];
    const ended = { num_used_containers: -1, memory_seconds: 100, vcore_seconds: 200, application_resource_usage_map };
    expect(applicationReportFromWire({ applicationId, app_resource_Usage: ended }).usage).toEqual({
      ...{ usedContainers: 0, used: none, needed: none, memorySeconds: 1, vcoreSeconds: 2, resourceSeconds: {} },
    });
  });
});

test("a node's report has all that the ResourceManager says", () => {
  expect(
    nodeReportFromWire({
      nodeId: { host: "node-3", port: 8_041 },
      httpAddress: "node-3:8042",
      rackName: "/rack-1",
      node_state: yarn.NodeStateProto.NS_UNHEALTHY,
      used: { memory: 1, virtual_cores: 2 },
      capability: { memory: 3, virtual_cores: 4 },
      numContainers: 5,
      node_labels: ["gpu"],
      health_report: "disks failed",
    }),
  ).toEqual({
    nodeId: "node-3:8041",
    host: "node-3",
    httpAddress: "node-3:8042",
    rack: "/rack-1",
    state: "UNHEALTHY",
    used: { memoryMiB: 1, vcores: 2, others: {} },
    capability: { memoryMiB: 3, vcores: 4, others: {} },
    containerCount: 5,
    labels: ["gpu"],
    healthReport: "disks failed",
  });
});

test("a container's report says where it is, and how large", () => {
  const app_attempt_id = { application_id: applicationId, attemptId: 1 };
  expect(
    containerReportFromWire({
      container_id: { app_attempt_id, id: 2 },
      node_id: { host: "node-3", port: 8_041 },
      resource: { memory: 1, virtual_cores: 2 },
    }),
  ).toEqual({
    containerId: "container_1795305600000_0007_01_000002",
    nodeId: "node-3:8041",
    resource: { memoryMiB: 1, vcores: 2, others: {} },
  });
});

test("the cluster's numbers are told one by one", () => {
  const metrics = { num_node_managers: 9, num_active_nms: 5, num_lost_nms: 3, num_unhealthy_nms: 1 };
  expect(clusterMetricsFromWire({ ...metrics, num_decommissioned_nms: 7, num_rebooted_nms: 8 })).toEqual({
    nodeManagers: 9,
    activeNodeManagers: 5,
    lostNodeManagers: 3,
    unhealthyNodeManagers: 1,
  });
  expect(clusterMetricsFromWire(undefined)).toEqual({
    nodeManagers: 0,
    activeNodeManagers: 0,
    lostNodeManagers: 0,
    unhealthyNodeManagers: 0,
  });
});

test("a node that is taken out of the cluster says how long it has; a negative number of Java's is no limit", () => {
  const timeout = (decommissioning_timeout?: number) =>
    nodeReportFromWire(decommissioning_timeout === undefined ? {} : { decommissioning_timeout })
      .decommissioningTimeoutS;
  expect([timeout(60), timeout(0), timeout(0xffffffff), timeout()]).toEqual([60, 0, undefined, undefined]);
});

describe("a queue", () => {
  test("is named by its path, which older ResourceManagers do not tell", () => {
    expect(queueInfoFromWire({ queueName: "ml", queuePath: "root.ml" }).path).toBe("root.ml");
    expect(queueInfoFromWire({ queueName: "ml", queuePath: "" }).path).toBe("ml");
    expect(queueInfoFromWire({}).path).toBe("");
  });

  test("has all that the ResourceManager says, its children and applications too", () => {
    const limit = (memory: number) => ({
      effectiveMaxCapacity: { memory, virtual_cores: 8 },
      effectiveMinCapacity: { memory: 1, virtual_cores: 1 },
    });
    const queue = queueInfoFromWire({
      queueName: "ml",
      queuePath: "root.ml",
      state: yarn.QueueStateProto.Q_RUNNING,
      capacity: 0.25,
      maximumCapacity: 0.5,
      currentCapacity: 0.75,
      accessibleNodeLabels: ["gpu"],
      defaultNodeLabelExpression: "cpu",
      queueConfigurationsMap: [
        { partitionName: "", queueConfigurations: limit(4_096) },
        { partitionName: "gpu", queueConfigurations: limit(2_048) },
        { partitionName: "empty", queueConfigurations: limit(0) },
        { partitionName: "unsaid" },
      ],
      applications: [{ applicationId, user: "ada" }],
      childQueues: [{ queueName: "small", queuePath: "root.ml.small", state: yarn.QueueStateProto.Q_DRAINING }],
    });
    expect(queue).toMatchObject({
      name: "ml",
      path: "root.ml",
      state: "RUNNING",
      capacity: 0.25,
      maximumCapacity: 0.5,
      currentCapacity: 0.75,
      accessibleNodeLabels: ["gpu"],
      defaultNodeLabel: "cpu",
      applications: [{ id: "application_1795305600000_0007", user: "ada" }],
      children: [{ path: "root.ml.small", state: "DRAINING", applications: [], children: [] }],
    });
    expect(queue.mostByLabel).toEqual({
      "": { memoryMiB: 4_096, vcores: 8, others: {} },
      gpu: { memoryMiB: 2_048, vcores: 8, others: {} },
    });
  });

  test("of which nothing is said is empty, and takes no applications", () => {
    expect(queueInfoFromWire({ queueName: "ml" })).toEqual({
      ...{ name: "ml", path: "ml", state: "STOPPED", capacity: 0, maximumCapacity: 0, currentCapacity: 0 },
      ...{ mostByLabel: {}, accessibleNodeLabels: [], defaultNodeLabel: "", applications: [], children: [] },
    });
  });

  test("of a FairScheduler has its most where that is told, wherever 3.4 writes the cores", () => {
    const most = (changes: object) => queueInfoFromWire({ schedulerType: "FairScheduler", ...changes }).mostByLabel;
    expect(most({ maxResourceMemory: 2_048, minResourceVCore: 3 })).toEqual({
      "": { memoryMiB: 2_048, vcores: 3, others: {} },
    });
    expect(most({ maxResourceMemory: 2_048, minResourceVCore: 1, maxResourceVCore: 4 })[""]?.vcores).toBe(4);
    expect(most({})).toEqual({});
  });
});
