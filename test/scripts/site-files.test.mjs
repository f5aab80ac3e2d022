import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { DEFAULT_SETTINGS } from "../../scripts/cluster/record.mjs";
import { hostNames } from "../../scripts/cluster/secure/host-names.mjs";
import { writeSiteFiles } from "../../scripts/cluster/site-files.mjs";

/** @type {string} */
let state;

/**
 * The site files of a cluster with these settings, in that folder.
 * @param {string} folder @param {Partial<import("../../scripts/cluster/record.mjs").Settings>} settings
 * @param {Partial<import("../../scripts/cluster/network.mjs").Addresses>} moreAddresses
 */
async function write(folder, settings, moreAddresses = {}) {
  await writeSiteFiles({
    name: "test",
    network: 9,
    state: folder,
    addresses: { master: "127.0.9.1", nodes: ["127.0.9.11", "127.0.9.12"], ...moreAddresses },
    users: { hdfs: { name: "hdfs", uid: 1, gid: 1 }, yarn: { name: "yarn", uid: 2, gid: 2 } },
    submitter: "ada",
    javaHome: "/java",
    jars: "/jars",
    classArchive: "/jars.jsa",
    settings: { ...DEFAULT_SETTINGS, ...settings },
  });
}

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), "tony-site-files-"));
  await write(state, {
    nmHeartbeatMs: 250,
    properties: {
      "dfs.replication": "2",
      "yarn.am.liveness-monitor.expiry-interval-ms": "5000",
      "yarn.scheduler.capacity.node-locality-delay": "0",
      "mapreduce.x": "1 < 2 & 3",
      "io.file.buffer.size": "4096",
    },
  });
});
afterAll(async () => await rm(state, { recursive: true, force: true }));

const text = async (/** @type {string[]} */ ...path) => await readFile(join(state, ...path), "utf8");

/** Of a site file, as Hadoop takes them: a later entry wins. @param {...string} path @returns {Promise<Record<string, string>>} */
async function properties(...path) {
  const entries = (await text(...path)).matchAll(/<name>([^<]*)<\/name><value>([^<]*)<\/value>/g);
  return Object.fromEntries([...entries].map(([, name, value]) => [name, value]));
}

test("leaves no placeholder unfilled", async () => {
  for (const folder of ["conf", "conf-nm1", "conf-nm2"]) {
    for (const file of await readdir(join(state, folder))) {
      expect(`${folder}/${file}: ${await text(folder, file)}`).not.toMatch(/@[A-Z_]+@/);
    }
  }
});

test("puts every key that is set into the file that Hadoop reads it from, after the template's own", async () => {
  expect((await properties("conf", "hdfs-site.xml"))["dfs.replication"]).toBe("2");
  expect((await properties("conf", "yarn-site.xml"))["yarn.am.liveness-monitor.expiry-interval-ms"]).toBe("5000");
  expect((await properties("conf", "capacity-scheduler.xml"))["yarn.scheduler.capacity.node-locality-delay"]).toBe("0");
  expect((await properties("conf", "mapred-site.xml"))["mapreduce.x"]).toBe("1 &lt; 2 &amp; 3");
  expect((await properties("conf", "core-site.xml"))["io.file.buffer.size"]).toBe("4096");
});

test("turns settings into Hadoop's keys", async () => {
  const yarn = await properties("conf", "yarn-site.xml");
  expect(yarn).toMatchObject({
    "yarn.resourcemanager.hostname": "127.0.9.1",
    "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "250",
  });
});

test("turns preemption on where it can be seen: on nodes without GPUs", async () => {
  await write(join(state, "preempting"), { preemption: true });
  expect(await properties("preempting", "conf", "yarn-site.xml")).toMatchObject({
    "yarn.resourcemanager.scheduler.monitor.enable": "true",
  });
  expect(await properties("preempting", "conf-nm2", "node-resources.xml")).toMatchObject({
    "yarn.nodemanager.resource-type.yarn.io/gpu": "0",
  });
});

test("gives each NodeManager its address and folders on top of the cluster's settings, GPUs to the second alone", async () => {
  expect(await text("conf-nm2", "yarn-site.xml")).toContain(`<xi:include href="${state}/conf/yarn-site.xml"/>`);
  expect(await properties("conf-nm2", "yarn-site.xml")).toMatchObject({
    "yarn.nodemanager.address": "127.0.9.12:8041",
    "yarn.nodemanager.local-dirs": `${state}/data/nm2/local`,
  });
  const gpus = "yarn.nodemanager.resource-type.yarn.io/gpu";
  expect((await properties("conf-nm1", "node-resources.xml"))[gpus]).toBe("0");
  expect((await properties("conf-nm2", "node-resources.xml"))[gpus]).toBe("2");
});

test("names both masters to everybody, and to each master of two which one it is", async () => {
  const folder = join(state, "doubled");
  await write(folder, { ha: true }, { secondMaster: "127.0.9.2" });
  expect(await properties("doubled", "conf", "core-site.xml")).toMatchObject({ "fs.defaultFS": "hdfs://tony" });
  const hdfs = await properties("doubled", "conf", "hdfs-site.xml");
  expect(hdfs).toMatchObject({
    "dfs.ha.namenodes.tony": "nn1,nn2",
    "dfs.namenode.rpc-address.tony.nn1": "127.0.9.1:8020",
    "dfs.namenode.http-address.tony.nn2": "127.0.9.2:9870",
  });
  const yarn = await properties("doubled", "conf", "yarn-site.xml");
  expect(yarn).toMatchObject({
    "yarn.resourcemanager.ha.rm-ids": "rm1,rm2",
    "yarn.resourcemanager.hostname.rm2": "127.0.9.2",
    "yarn.resourcemanager.store.class": expect.stringMatching(/ZKRMStateStore$/),
  });
  // A client that had one of these would ask that master alone.
  expect(hdfs).not.toHaveProperty(["dfs.ha.namenode.id"]);
  expect(yarn).not.toHaveProperty(["yarn.resourcemanager.ha.id"]);
  expect(await properties("doubled", "conf-nn2", "hdfs-site.xml")).toMatchObject({
    "dfs.ha.namenode.id": "nn2",
    "dfs.namenode.name.dir": `file://${folder}/data/nn2`,
  });
  expect(await properties("doubled", "conf-rm1", "yarn-site.xml")).toEqual({ "yarn.resourcemanager.ha.id": "rm1" });
  expect(await text("doubled", "conf-zookeeper", "zoo.cfg")).toContain("clientPortAddress=127.0.9.1");
  expect(await text("doubled", "hosts")).toContain("127.0.9.2 127.0.9.2");
});

test("keeps addresses as names, and makes this host the master", async () => {
  expect((await text("hosts")).trim().split("\n")).toEqual([
    `127.0.9.1 127.0.9.1 ${hostname()}`,
    "127.0.9.11 127.0.9.11",
    "127.0.9.12 127.0.9.12",
    "127.0.0.1 localhost",
  ]);
});

describe("of a secure cluster", () => {
  const names = hostNames(9, 2);

  beforeAll(async () => await write(join(state, "secured"), { secure: true, tokenLifetimeS: 60 }, names));

  test("demands Kerberos, and the chosen protection of RPC and data", async () => {
    expect(await properties("secured", "conf", "core-site.xml")).toMatchObject({
      "hadoop.security.authentication": "kerberos",
      "hadoop.rpc.protection": "privacy",
      "hadoop.http.authentication.type": "kerberos",
      "hadoop.security.key.provider.path": "kms://https@master.n9.tony.test:9600/kms",
    });
    expect(await properties("secured", "conf", "hdfs-site.xml")).toMatchObject({
      "dfs.http.policy": "HTTPS_ONLY",
      "dfs.data.transfer.protection": "privacy",
      "dfs.encrypt.data.transfer.cipher.suites": "AES/CTR/NoPadding",
      "dfs.namenode.kerberos.principal": "hdfs/_HOST@TONY.TEST",
    });
  });

  test("lets only the administrators see and end what others run", async () => {
    expect(await properties("secured", "conf", "yarn-site.xml")).toMatchObject({
      "yarn.acl.enable": "true",
      "yarn.admin.acl": "yarn",
    });
    const administrators = "yarn.scheduler.capacity.root.acl_administer_queue";
    expect((await properties("secured", "conf", "capacity-scheduler.xml"))[administrators]).toBe("yarn");
  });

  test("tells clients whom to trust, and the daemons alone how to open their key store", async () => {
    expect(await text("secured", "conf", "ssl-client.xml")).toContain("secured/secure/tls/truststore.jks");
    expect(await readdir(join(state, "secured", "conf"))).not.toContain("ssl-server.xml");
    expect(await text("secured", "secure", "daemons", "ssl-server.xml")).toContain("secured/secure/tls/keystore.p12");
  });

  test("makes tokens live as long as was asked, to be renewed after half of that", async () => {
    expect(await properties("secured", "conf", "hdfs-site.xml")).toMatchObject({
      "dfs.namenode.delegation.token.max-lifetime": "60000",
      "dfs.namenode.delegation.token.renew-interval": "30000",
    });
    expect(await properties("secured", "conf-kms", "kms-site.xml")).toMatchObject({
      "hadoop.kms.authentication.delegation-token.max-lifetime.sec": "60",
      "hadoop.kms.authentication.delegation-token.renew-interval.sec": "30",
    });
  });

  test("leaves no placeholder unfilled", async () => {
    for (const folder of ["conf", "conf-nm1", "conf-kms", "secure", "secure/daemons"]) {
      for (const file of await readdir(join(state, "secured", folder), { withFileTypes: true })) {
        if (!file.isFile()) continue;
        expect(`${folder}/${file.name}: ${await text("secured", folder, file.name)}`).not.toMatch(/@[A-Z_]+@/);
      }
    }
  });

  test("knows its hosts by names", async () => {
    expect((await text("secured", "hosts")).trim().split("\n")).toEqual([
      `127.0.9.1 master.n9.tony.test ${hostname()}`,
      "127.0.9.11 nm1.n9.tony.test",
      "127.0.9.12 nm2.n9.tony.test",
      "127.0.0.1 localhost",
    ]);
  });
});

test("counts every resource with the capacity scheduler, unless told otherwise", async () => {
  const calculator = "yarn.scheduler.capacity.resource-calculator";
  const scheduler = "yarn.resourcemanager.scheduler.class";
  expect((await properties("conf", "capacity-scheduler.xml"))[calculator]).toMatch(/\.DominantResourceCalculator$/);
  expect((await properties("conf", "yarn-site.xml"))[scheduler]).toMatch(/\.capacity\.CapacityScheduler$/);

  await write(join(state, "other"), { calculator: "default", scheduler: "fair" });
  const capacity = await properties("other", "conf", "capacity-scheduler.xml");
  expect(capacity[calculator]).toMatch(/\.DefaultResourceCalculator$/);
  expect((await properties("other", "conf", "resource-types.xml"))["yarn.resource-types"]).toBe("");
  expect((await properties("other", "conf", "yarn-site.xml"))[scheduler]).toMatch(/\.fair\.FairScheduler$/);
});
