import { describe, expect, test } from "@jest/globals";
import { handedToExecutors, handedToLogin, handedToMaster } from "../../../src/job/stored/handed-settings.ts";

const forBoth = {
  "fs.defaultFS": "hdfs://nn",
  "dfs.namenode.http-address": "nn:9870",
  "hadoop.security.authentication": "simple",
  "hadoop.rpc.protection": "privacy",
};
const forTheMaster = {
  "yarn.resourcemanager.hostname.rm1": "one",
  "yarn.resourcemanager.address.rm1": "one:8032",
  "yarn.resourcemanager.scheduler.address.rm1": "one:8030",
  "yarn.resourcemanager.ha.enabled": "true",
  "yarn.resourcemanager.ha.rm-ids": "rm1,rm2",
  "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "250",
  "yarn.am.liveness-monitor.expiry-interval-ms": "60000",
  "hadoop.security.auth_to_local": "RULE:[1:$1@$0](.*@CORP)s/@.*// DEFAULT",
  "hadoop.security.auth_to_local.mechanism": "mit",
  "hadoop.http.authentication.type": "kerberos",
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

  test("who logs in by the job's keytab gets servers, principals, key servers and the lives of tokens", () => {
    const forLogin = {
      "yarn.resourcemanager.address.rm1": "one:8032",
      "yarn.resourcemanager.principal": "rm/_HOST@EXAMPLE",
      "yarn.resourcemanager.principal.pattern": "rm/*@EXAMPLE",
      "yarn.resourcemanager.delegation.token.renew-interval": "1",
      "dfs.namenode.kerberos.principal": "nn/_HOST@EXAMPLE",
      "dfs.namenode.delegation.token.renew-interval": "1",
      "hadoop.security.key.provider.path": "kms://https@kms:9600/kms",
      "hadoop.security.auth_to_local": "DEFAULT",
      "mapreduce.job.hdfs-servers.token-renewal.exclude": "ns2",
    };
    expect(handedToLogin({ ...forNobody, ...forLogin })).toEqual(forLogin);
  });

  test("executors get what leads to file systems", () => {
    expect(handedToExecutors(site)).toEqual(forBoth);
  });
});
