import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { noRetry } from "../../../src/hadoop/rpc/retry.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
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
/** Answers in their order; the last one again and again. */
let script: Answer[];

beforeEach(async () => {
  [asked, script, clock] = [[], [], new ManualClock()];
  server = await RpcTestServer.start({
    onCall: (connection, { callId, method }) => {
      asked.push(method);
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

  test("are memory and cores where the ResourceManager knows of no others", async () => {
    script = ["org.apache.hadoop.ipc.RpcNoSuchMethodException"];
    expect((await client.resourceTypes()).map(({ name }) => name)).toEqual(["memory-mb", "vcores"]);
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
