import { describe, expect, it } from "@jest/globals";
import { inheritedEnvironment, readSettings } from "../../executor/settings.ts";
import { logPrefixOf } from "../../src/job/launch/container-names.ts";
import { executorVariables } from "../../src/job/launch/launch-command.ts";
import { anExecutorLaunch } from "../support/executor-launch.ts";

const environment = {
  ...executorVariables(anExecutorLaunch),
  CONTAINER_ID: "container_1_0001_02_000003",
  NM_HOST: "node-1",
  LOG_DIRS: "/disk1/logs,/disk2/logs",
  HADOOP_TOKEN_FILE_LOCATION: "/work/container_tokens",
  MINE: "kept",
};

describe("what an executor's container says", () => {
  it("is read from what the ApplicationMaster and the NodeManager have set", () => {
    expect(readSettings(environment)).toEqual({
      task: { role: "worker", index: 1 },
      applicationId: "application_1_0001",
      containerId: "container_1_0001_02_000003",
      host: "node-1",
      masterAddress: "[::1]:4000",
      staging: { user: "alice", stagingUrl: "hdfs://ns/staging", hadoop: { "dfs.nameservices": "ns" } },
      attempt: 2,
      generation: 3,
      isolationMs: 30_000,
      sections: anExecutorLaunch.sections,
      portNames: ["rpc", "metrics"],
      tensorBoard: true,
      reusePort: false,
      memoryLimitBytes: 1_073_741_824,
      logFolder: "/disk1/logs",
      logPrefix: "",
      tokenFile: "/work/container_tokens",
    });
  });

  it("has no memory limit where nothing enforces one", () => {
    expect(readSettings({ ...environment, TONY_CONTAINER_MEMORY_MIB: undefined }).memoryLimitBytes).toBeUndefined();
  });

  it("names no further ports where its role does not", () => {
    expect(readSettings({ ...environment, TONY_PORT_NAMES: undefined }).portNames).toEqual([]);
  });

  it("keeps its log files apart where the container has had another task", () => {
    const again = executorVariables({ ...anExecutorLaunch, logPrefix: logPrefixOf(anExecutorLaunch.task) });
    expect(readSettings({ ...environment, ...again }).logPrefix).toBe("worker-1.");
  });

  it.each([
    ["CONTAINER_ID", "", /CONTAINER_ID is not set/],
    ["TONY_TASK", "worker", /TONY_TASK has the value worker/],
    ["TONY_MASTER_ATTEMPT", "0", /TONY_MASTER_ATTEMPT has the value 0/],
    ["TONY_MASTER_ATTEMPT", "1e3", /TONY_MASTER_ATTEMPT has the value 1e3/],
    ["TONY_CONTAINER_MEMORY_MIB", "1g", /TONY_CONTAINER_MEMORY_MIB has the value 1g/],
    ["TONY_STAGING", "{}", /TONY_STAGING has the value \{\}/],
    ["TONY_SECTIONS", '{"ports":{}}', /TONY_SECTIONS has the value \{"ports":\{\}\}/],
  ])("is refused with the name of what is wrong: %s=%s", (name, value, message) => {
    expect(() => readSettings({ ...environment, [name]: value })).toThrow(
      expect.objectContaining({ code: "NOT_IN_A_CONTAINER", message: expect.stringMatching(message) }),
    );
  });

  it("is inherited by the program without what was the executor's", () => {
    const inherited = inheritedEnvironment(environment);
    expect(inherited).toMatchObject({ MINE: "kept", NM_HOST: "node-1", CONTAINER_ID: "container_1_0001_02_000003" });
    expect(Object.keys(inherited).filter((name) => name.startsWith("TONY_"))).toEqual([]);
  });
});
