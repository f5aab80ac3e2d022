import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { noRetry } from "../../../src/hadoop/rpc/retry.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { common } from "../../../src/hadoop/wire/common.ts";
import { yarn } from "../../../src/hadoop/wire/yarn.ts";
import { ResourceManagerClient } from "../../../src/hadoop/yarn/resource-manager.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { failureFrame, RpcTestServer } from "../../support/rpc-server.ts";

const id = "application_1_0001";
const patient = { giveUpAfterMs: 60_000, firstDelayMs: 10, longestDelayMs: 10 };

/** Bytes of an answer, or the Java class of an exception. */
type Answer = Uint8Array | string;

let server: RpcTestServer;
let client: ResourceManagerClient;
let clock: ManualClock;
let asked: string[];
let requests: Uint8Array[];
/** Answers in their order; the last one again and again. */
let script: Answer[];

beforeEach(async () => {
  [asked, requests, script, clock] = [[], [], [], new ManualClock()];
  server = await RpcTestServer.start({
    onCall: (connection, { callId, method, request }) => {
      asked.push(method);
      requests.push(request);
      const answer = (script.length > 1 ? script.shift() : script[0]) ?? new Uint8Array();
      if (typeof answer === "string") connection.socket.write(failureFrame(callId, "ERROR", answer, "no"));
      else connection.reply(callId, answer);
    },
  });
  client = clientOf();
});

afterEach(async () => {
  client.close();
  await server.stop();
});

function clientOf(retry = noRetry): ResourceManagerClient {
  const credentials = simpleCredentials({ name: "ada" });
  return new ResourceManagerClient({ endpoints: [server.endpoint], credentials, clock, retry });
}

const { STRING } = yarn.NodeAttributeTypeProto;
const killed = (is_kill_completed: boolean) => yarn.KillApplicationResponseProto.encode({ is_kill_completed }).finish();

describe("a kill", () => {
  test("is asked for until it is done, with a pause between", async () => {
    script = [killed(false), killed(false), killed(true)];
    await client.kill(id);
    expect(asked).toHaveLength(3);
    expect(clock.sleepsMs).toEqual([200, 200]);
  });

  test("that takes too long is given up, after the time that was given", async () => {
    script = [killed(false)];
    await expect(client.kill(id, { timeoutMs: 1_000 })).rejects.toMatchObject({
      code: "KILL_TIMEOUT",
      message: expect.stringContaining("1000 ms"),
    });
    expect(clock.nowMs()).toBe(1_200);
  });
});

test("a kill has the reason that it is given, and no other", async () => {
  script = [killed(true)];
  await client.kill(id, { diagnostics: "enough" });
  await client.kill(id);
  const told = requests.map((request) => yarn.KillApplicationRequestProto.decode(request));
  expect(told.map(({ diagnostics }) => diagnostics)).toEqual(["enough", ""]);
  expect(told[0]?.application_id).toMatchObject({ id: 1 });
});

test("a kill takes a minute at most where nothing else is said", async () => {
  script = [killed(false)];
  await expect(client.kill(id)).rejects.toMatchObject({ code: "KILL_TIMEOUT" });
  expect(clock.nowMs()).toBe(60_200);
});

describe("the cluster's resource types", () => {
  const gpu = { name: "yarn.io/gpu", units: "" };
  const types = yarn.GetAllResourceTypeInfoResponseProto.encode({ resource_type_info: [gpu] }).finish();

  test("are asked for once, and again after a question that failed", async () => {
    script = ["java.io.IOException", types];
    await expect(client.resourceTypes()).rejects.toMatchObject({ code: "REMOTE_EXCEPTION" });
    expect(await client.resourceTypes()).toEqual([gpu]);
    expect(await client.resourceTypes()).toEqual([gpu]);
    expect(asked).toHaveLength(2);
  });

  test("are asked for before a submission that wants any, and refuse it where they lack one", async () => {
    const submit = (others: Readonly<Record<string, number>>) => {
      const masterResource = { memoryMiB: 512, vcores: 1, others };
      return client.submit({ id, name: "n", queue: "default", masterLaunch: { commands: [] }, masterResource });
    };
    script = [new Uint8Array(), types, new Uint8Array()];
    await submit({ "yarn.io/gpu": 0 });
    await submit({ "yarn.io/gpu": 2 });
    expect(asked).toEqual(["submitApplication", "getResourceTypeInfo", "submitApplication"]);
    const told = yarn.SubmitApplicationRequestProto.decode(requests[2] ?? new Uint8Array());
    expect(told.application_submission_context?.resource?.resource_value_map).toMatchObject([{ key: "yarn.io/gpu" }]);
    await expect(submit({ "yarn.io/tpu": 1 })).rejects.toMatchObject({ code: "RESOURCE_TYPE_UNKNOWN" });
    expect(asked).toHaveLength(3);
  });

  test("are memory and cores where the ResourceManager knows of no others", async () => {
    script = ["org.apache.hadoop.ipc.RpcNoSuchMethodException"];
    expect(await client.resourceTypes()).toEqual([
      { name: "memory-mb", units: "Mi" },
      { name: "vcores", units: "" },
    ]);
  });
});

describe("the attributes of nodes", () => {
  test("are told with their prefix, Hadoop's own where none is said", async () => {
    const attributes = [{ attributeName: "java" }, { attributePrefix: "site", attributeName: "disk" }];
    script = [
      yarn.GetClusterNodeAttributesResponseProto.encode({
        nodeAttributes: attributes.map((attributeKey) => ({ attributeKey, attributeType: STRING })),
      }).finish(),
    ];
    expect(await client.nodeAttributes()).toEqual(["rm.yarn.io/java", "site/disk"]);
  });

  test("are unknown to an older ResourceManager; another failure is one", async () => {
    script = ["org.apache.hadoop.ipc.RpcNoSuchMethodException", "java.io.IOException"];
    expect(await client.nodeAttributes()).toBeUndefined();
    await expect(client.nodeAttributes()).rejects.toMatchObject({ code: "REMOTE_EXCEPTION" });
  });
});

test("who asks how an application is, or hands one in, may stop the tries", async () => {
  client.close();
  client = clientOf(patient);
  script = ["org.apache.hadoop.ipc.StandbyException"];
  const signal = AbortSignal.abort();
  await expect(client.report(id, { signal })).rejects.toMatchObject({ code: "STANDBY" });
  const masterResource = { memoryMiB: 512, vcores: 1, others: {} };
  const context = { id, name: "n", queue: "default", masterLaunch: { commands: [] }, masterResource };
  await expect(client.submit(context, { signal })).rejects.toMatchObject({ code: "STANDBY" });
  expect(asked).toEqual(["getApplicationReport", "submitApplication"]);
});

test("there is no token of a client, or of a master, before the ResourceManager gives one", async () => {
  script = [yarn.GetApplicationReportResponseProto.encode({ application_report: {} }).finish()];
  expect([await client.clientToken(id), await client.masterToken(id)]).toEqual([undefined, undefined]);
});

describe("a question to the ResourceManager", () => {
  const applicationId = { cluster_timestamp: 1, id: 1 };
  const token = { identifier: Uint8Array.of(1), password: Uint8Array.of(2), kind: "k", service: "s" };
  const lastRequest = () => requests.at(-1) ?? new Uint8Array();

  test("for a new id brings it, and the largest container", async () => {
    script = [
      yarn.GetNewApplicationResponseProto.encode({
        application_id: applicationId,
        maximumCapability: { memory: 8_192, virtual_cores: 4 },
      }).finish(),
    ];
    expect(await client.newApplication()).toEqual({ id, maximum: { memoryMiB: 8_192, vcores: 4, others: {} } });
    expect(asked).toEqual(["getNewApplication"]);
  });

  test("for an application's tokens brings the client's and the master's, each where it belongs", async () => {
    const application_report = {
      applicationId,
      client_to_am_token: { ...token, kind: "client" },
      am_rm_token: { ...token, kind: "master" },
    };
    script = [yarn.GetApplicationReportResponseProto.encode({ application_report }).finish()];
    expect(await client.clientToken(id)).toEqual({ ...token, kind: "client" });
    expect(await client.masterToken(id)).toEqual({ ...token, kind: "master" });
    expect((await client.report(id)).id).toBe(id);
    expect(yarn.GetApplicationReportRequestProto.decode(lastRequest()).application_id).toMatchObject({ id: 1 });
  });

  test("for a delegation token names who may renew it; one that brings none is an error", async () => {
    script = [common.GetDelegationTokenResponseProto.encode({ token }).finish(), new Uint8Array()];
    expect(await client.delegationToken("rm/h@R")).toEqual(token);
    expect(common.GetDelegationTokenRequestProto.decode(lastRequest()).renewer).toBe("rm/h@R");
    await expect(client.delegationToken("rm/h@R")).rejects.toMatchObject({ code: "NO_TOKEN" });
  });

  test("for applications brings those that it describes", async () => {
    script = [yarn.GetApplicationsResponseProto.encode({ applications: [{ applicationId }] }).finish()];
    expect((await client.reports({ users: ["ada"] })).map((report) => report.id)).toEqual([id]);
    expect(yarn.GetApplicationsRequestProto.decode(lastRequest()).users).toEqual(["ada"]);
    await client.reports();
    expect(yarn.GetApplicationsRequestProto.decode(lastRequest()).users).toEqual([]);
  });

  test("for nodes brings those in the states that are named", async () => {
    const nodeReports = [{ nodeId: { host: "n1", port: 8041 } }];
    script = [yarn.GetClusterNodesResponseProto.encode({ nodeReports }).finish()];
    expect((await client.nodes(["RUNNING", "LOST"])).map(({ nodeId }) => nodeId)).toEqual(["n1:8041"]);
    const { NS_RUNNING, NS_LOST } = yarn.NodeStateProto;
    expect(yarn.GetClusterNodesRequestProto.decode(lastRequest()).nodeStates).toEqual([NS_RUNNING, NS_LOST]);
    await client.nodes();
    expect(yarn.GetClusterNodesRequestProto.decode(lastRequest()).nodeStates).toEqual([]);
  });

  test("for an attempt's containers brings them", async () => {
    const app_attempt_id = { application_id: applicationId, attemptId: 2 };
    const containers = [{ container_id: { app_attempt_id, id: 3 } }];
    script = [yarn.GetContainersResponseProto.encode({ containers }).finish()];
    const found = await client.containers("appattempt_1_0001_000002");
    expect(found.map(({ containerId }) => containerId)).toEqual(["container_1_0001_02_000003"]);
    expect(yarn.GetContainersRequestProto.decode(lastRequest()).application_attempt_id).toMatchObject({ attemptId: 2 });
  });

  test("for node labels tells which of them keep others off", async () => {
    const nodeLabels = [{ name: "gpu", isExclusive: false }, { name: "ssd", isExclusive: true }, { name: "old" }];
    script = [yarn.GetClusterNodeLabelsResponseProto.encode({ nodeLabels }).finish()];
    expect(await client.nodeLabels()).toEqual([
      { name: "gpu", exclusive: false },
      { name: "ssd", exclusive: true },
      { name: "old", exclusive: true },
    ]);
  });

  test("for a queue brings of it what is wanted, or nothing where there is none", async () => {
    script = [yarn.GetQueueInfoResponseProto.encode({ queueInfo: { queueName: "ml" } }).finish()];
    expect((await client.queue("ml"))?.name).toBe("ml");
    const told = () => {
      const { queueName, includeApplications, includeChildQueues, recursive } = yarn.GetQueueInfoRequestProto.decode(
        lastRequest(),
      );
      return [queueName, includeApplications, includeChildQueues, recursive];
    };
    expect(told()).toEqual(["ml", false, false, false]);
    await client.queue("ml", { applications: true });
    expect(told()).toEqual(["ml", true, false, false]);
    await client.queue("ml", { children: true });
    expect(told()).toEqual(["ml", false, true, false]);
    script = [new Uint8Array()];
    expect(await client.queue("ml", { recursive: true })).toBeUndefined();
    expect(told()).toEqual(["ml", false, false, true]);
  });

  test("for the caller's rights brings them by queue", async () => {
    const { QACL_SUBMIT_APPLICATIONS, QACL_ADMINISTER_QUEUE } = yarn.QueueACLProto;
    const queueUserAcls = [
      { queueName: "ml", userAcls: [QACL_SUBMIT_APPLICATIONS, QACL_ADMINISTER_QUEUE] },
      { queueName: "etl" },
    ];
    script = [yarn.GetQueueUserAclsInfoResponseProto.encode({ queueUserAcls }).finish()];
    expect([...(await client.queueUserAcls())]).toEqual([
      ["ml", ["SUBMIT_APPLICATIONS", "ADMINISTER_QUEUE"]],
      ["etl", []],
    ]);
  });

  test("for the cluster's numbers brings them", async () => {
    const cluster_metrics = { num_node_managers: 3, num_active_nms: 2 };
    script = [yarn.GetClusterMetricsResponseProto.encode({ cluster_metrics }).finish()];
    expect(await client.metrics()).toMatchObject({ nodeManagers: 3, activeNodeManagers: 2 });
    expect(client.endpoint).toEqual(server.endpoint);
  });
});
