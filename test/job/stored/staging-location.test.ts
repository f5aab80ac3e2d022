import { describe, expect, test } from "@jest/globals";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { nameNodeEndpoints } from "../../../src/hadoop/hdfs/namenodes.ts";
import { resolveMount } from "../../../src/hadoop/hdfs/viewfs.ts";
import { parseStagingLocation, stagingLocation } from "../../../src/job/stored/staging-location.ts";

const site = {
  "fs.defaultFS": "viewfs://c",
  "fs.viewfs.mounttable.c.link./user": "hdfs://prod/user",
  "dfs.nameservices": "prod",
  "dfs.http.policy": "HTTPS_ONLY",
  "dfs.ha.namenodes.prod": "nn1,nn2",
  "dfs.namenode.rpc-address.prod.nn1": "a:8020",
  "dfs.namenode.https-address.prod.nn1": "a:9999",
  "dfs.namenode.rpc-address.prod.nn2": "b:8020",
};
const job = { user: "alice", stagingUrl: "viewfs://c/user/alice/.tony-ts/application_1_0001" };

describe("where a job's staging folder is, as a container's environment says it", () => {
  const told = parseStagingLocation(
    JSON.stringify(
      stagingLocation({
        ...job,
        hadoop: { ...site, "dfs.replication": "3", "yarn.resourcemanager.ha.enabled": "true" },
      }),
    ),
  );

  test("has of a site's properties only those that lead to file systems", () => {
    expect(told).toEqual({ ...job, hadoop: site });
  });

  test("they lead to the same NameNodes", () => {
    const configuration = new Configuration().withValues(told?.hadoop ?? {});
    expect(resolveMount(configuration, "c", "/user/alice")).toBe("hdfs://prod/user/alice");
    expect(nameNodeEndpoints(configuration, "prod")).toEqual(["https://a:9999", "https://b:9871", "https://b:50470"]);
  });

  test("names the gateway in front of them, where there is one", () => {
    const hdfsEndpoint = "https://knox:8443/gateway/default";
    expect(stagingLocation({ ...job, hadoop: {}, hdfsEndpoint })).toEqual({ ...job, hadoop: {}, hdfsEndpoint });
  });

  test.each(["", "{", "{}", '{"user":1}'])("anything else is not understood: %s", (json) => {
    expect(parseStagingLocation(json)).toBeUndefined();
  });
});
