import { describe, expect, test } from "@jest/globals";
import { handedToExecutors, handedToMaster } from "../../src/job/handed-settings.ts";

const forBoth = {
  "fs.defaultFS": "hdfs://nn",
  "dfs.namenode.http-address": "nn:9870",
  "hadoop.security.authentication": "simple",
  "hadoop.rpc.protection": "privacy",
};
const forTheMaster = {
  "yarn.resourcemanager.hostname.rm1": "one",
  "yarn.resourcemanager.scheduler.address.rm1": "one:8030",
  "yarn.resourcemanager.ha.enabled": "true",
  "yarn.resourcemanager.ha.rm-ids": "rm1,rm2",
  "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "250",
  "yarn.am.liveness-monitor.expiry-interval-ms": "60000",
};
const forNobody = {
  "fs.s3a.session.token": "t",
  "fs.azure.sas.container": "s",
  "ssl.client.keystore.password": "p",
  "yarn.resourcemanager.keytab": "/etc/rm.keytab",
  "hive.metastore.client": "x",
};
const site = { ...forBoth, ...forTheMaster, ...forNobody };

describe("what of a site's Hadoop properties a job takes along", () => {
  test("the ApplicationMaster gets what it reads, by name, and no other property whatever it is called", () => {
    expect(handedToMaster(site)).toEqual({ ...forBoth, ...forTheMaster });
  });

  test("executors get what leads to file systems", () => {
    expect(handedToExecutors(site)).toEqual(forBoth);
  });
});
