import { describe, expect, test } from "@jest/globals";
import { readSettings } from "../../am/settings.ts";

const environment = {
  CONTAINER_ID: "container_1_0001_02_000001",
  NM_HOST: "node-1",
  LOG_DIRS: "/disk1/logs,/disk2/logs",
  LOCAL_DIRS: "/disk1/local,/disk2/local",
  HADOOP_TOKEN_FILE_LOCATION: "/work/container_tokens",
};

describe("what the container of an ApplicationMaster says", () => {
  test("is read from what the NodeManager has set", () => {
    const more = { NM_PORT: "1", NM_HTTP_PORT: "2", APP_SUBMIT_TIME_ENV: "1795305600000" };
    expect(readSettings({ ...environment, ...more })).toEqual({
      submittedAtMs: 1_795_305_600_000,
      containerId: "container_1_0001_02_000001",
      attempt: 2,
      host: "node-1",
      node: { host: "node-1", port: 1, httpAddress: "node-1:2" },
      logFolder: "/disk1/logs",
      tokenFile: "/work/container_tokens",
      local: false,
      localFolder: "/disk1/local",
    });
  });

  test("may be a key store, where YARN's proxy is to know the job's page", () => {
    const store = { KEYSTORE_FILE_LOCATION: "/work/yarn_provided.keystore", KEYSTORE_PASSWORD: "secret" };
    expect(readSettings({ ...environment, ...store }).keyStore).toEqual({
      file: "/work/yarn_provided.keystore",
      password: "secret",
    });
    expect(readSettings({ ...environment, KEYSTORE_FILE_LOCATION: "/work/its-own" }).keyStore).toBeUndefined();
  });

  test("is less where the client has started it on its own machine", () => {
    const settings = readSettings({ ...environment, TONY_SCHEDULER: "local" });
    expect(settings).toMatchObject({ local: true, node: { host: "node-1", port: 0, httpAddress: "node-1:0" } });
    expect(settings).not.toHaveProperty("submittedAtMs");
  });

  test("has to be there", () => {
    expect(() => readSettings({ ...environment, NM_HOST: "" })).toThrow("NM_HOST is not set");
  });
});
