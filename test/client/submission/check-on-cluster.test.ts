import { chmodSync, mkdirSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { clusterOf } from "../../../client/cluster/cluster.ts";
import { checkOffline } from "../../../client/submission/check-offline.ts";
import { type CheckedOnCluster, checkOnCluster } from "../../../client/submission/check-on-cluster.ts";
import { LocalFileSystem } from "../../../src/hadoop/hdfs/local.ts";
import { aNode, StandInCluster } from "./stand-in-cluster.ts";

let there: StandInCluster;
beforeEach(async () => {
  there = await StandInCluster.start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await there.stop();
});

async function checked(
  settings: Readonly<Record<string, string>>,
  identity: { readonly isSecured?: boolean; readonly user?: string } = {},
): Promise<CheckedOnCluster> {
  const text = there.job(settings);
  const cluster = Object.assign(await clusterOf(text, there.context), identity);
  try {
    return await checkOnCluster(text, checkOffline(text, { kind: "lead" }, there.context), cluster);
  } finally {
    cluster.close();
  }
}

const warningsOf = async (settings: Readonly<Record<string, string>>) =>
  (await checked(settings)).problems.map(({ message }) => message).join("\n");

describe("a job that a cluster can run", () => {
  test("has the containers that its scheduler gives, with the label that its queue gives", async () => {
    there.manager.labels = [{ name: "gpu", exclusive: true }];
    there.manager.defaultLabel = "gpu";
    there.manager.nodes = [aNode("n1", { labels: ["gpu"] })];
    const { spec } = await checked({ "tony.worker.memory": "1500m", "yarn.scheduler.minimum-allocation-mb": "1000" });
    expect(spec.roles).toMatchObject([{ nodeLabel: "gpu", resource: { memoryMiB: 2_000 } }]);
  });

  test("has an application, a folder for staging folders, and the files of its feeds", async () => {
    const rows = there.file("rows.txt", "a\n");
    const feed = { "tony.feed.train.input": `file://${rows}`, "tony.feed.train.format": "lines" };
    const { facts, root, feeds } = await checked(feed);
    expect(facts.application.id).toBe("application_1795305600000_0001");
    expect(root.path).toBe(there.staging);
    expect([...(feeds.train ?? [])].map(({ path }) => path)).toEqual([`file://${rows}`]);
  });

  test("waits for its ApplicationMaster longer than the cluster does for that, or for a node", async () => {
    const key = (server: string) => `yarn.${server}.liveness-monitor.expiry-interval-ms`;
    const usual = (await checked({})).spec.timeouts.orphanMs;
    expect(usual).toBeGreaterThan(600_000);
    for (const [longer, shorter] of [
      ["am", "nm"],
      ["nm", "am"],
    ] as const) {
      const { spec } = await checked({ [key(longer)]: "7200000", [key(shorter)]: "1000" });
      expect(spec.timeouts.orphanMs - usual).toBe(6_600_000);
    }
  });

  test("is warned where nodes count virtual memory, of which Node reserves more than a small container has", async () => {
    const small = { "tony.am.memory": "128m", "yarn.scheduler.minimum-allocation-mb": "128" };
    expect(await warningsOf(small)).toMatch(/virtual-memory check/);
    expect(await warningsOf({ ...small, "yarn.nodemanager.vmem-check-enabled": "false" })).not.toMatch(
      /virtual-memory/,
    );
    for (const nothing of ["yarn.nodemanager.vmem-pmem-ratio", "yarn.scheduler.minimum-allocation-mb"])
      expect(await warningsOf({ ...small, [nothing]: "0" })).not.toMatch(/virtual-memory/);
    // A container is never smaller than the least one, which is a gibibyte where nobody says so.
    expect(await warningsOf({ "tony.am.memory": "128m" })).not.toMatch(/virtual-memory/);
  });

  test("runs by a Node for each architecture that one is named for", async () => {
    const named = { "tony.node.binary": "hdfs://nn/x64", "tony.node.binary.arm64": "hdfs://nn/arm64" };
    expect((await checked(named)).runtime).toMatchObject({ kind: "mixed", of: { arm64: { url: "hdfs://nn/arm64" } } });
  });
});

describe("a job is refused before anything is sent", () => {
  test.each<[string, Readonly<Record<string, string>>, object]>([
    [
      "that asks for more than is configured, though a larger node may come",
      { "tony.worker.memory": "9g", "yarn.scheduler.maximum-allocation-mb": "8192" },
      { code: "CLUSTER_REFUSES", message: expect.stringContaining("(yarn.scheduler.maximum-allocation-mb)") },
    ],
    [
      "that asks for what no node counts",
      { "tony.worker.gpus": "1" },
      { code: "CLUSTER_REFUSES", message: expect.stringContaining("yarn.io/gpu") },
    ],
    [
      "whose Node is not there, with where it is named",
      { "tony.node.binary": "/none/node" },
      {
        code: "RUNTIME_UNFIT",
        message: expect.stringMatching(/^-conf: tony\.node\.binary: \/none\/node does not exist/),
      },
    ],
    [
      "that begins with a part of a checkpoint",
      { "tony.application.resume-from": "/ckpt/_unfinished-step-1" },
      { code: "NO_CHECKPOINT" },
    ],
    [
      "whose feed has no files",
      { "tony.feed.train.input": "file:///none", "tony.feed.train.format": "lines" },
      { code: "CLUSTER_REFUSES", message: expect.stringContaining("names file:///none, which does not exist") },
    ],
  ])("%s", async (_which, settings, error) => {
    await expect(checked(settings)).rejects.toMatchObject(error);
    expect(there.cached()).toEqual([]);
  });

  test.each([
    ["the staging folder", "tony.staging-dir"],
    ["the cache", "tony.cache.dir"],
  ])("whose results would go into %s, which is on the default file system", async (_where, key) => {
    const mounted = { "fs.defaultFS": "viewfs://v", "fs.viewfs.mounttable.v.linkFallback": `file://${there.folder}` };
    const output = { "tony.output.local-dir": "out", "tony.output.dir": `file://${there.folder}/kept/results` };
    await expect(checked({ ...mounted, ...output, [key]: "/kept" })).rejects.toMatchObject({
      code: "FOLDER_UNREACHABLE",
      message: expect.stringContaining(`(${key})`),
    });
  });
});

describe("the folder of staging folders", () => {
  test("that others may change is told where the cluster believes names, and refused on a secured one", async () => {
    mkdirSync(there.staging);
    chmodSync(there.staging, 0o777);
    await checked({});
    expect(there.context.err.text).toContain("can be changed by everybody (permissions 777)");
    const secret = { "hadoop.rpc.protection": "privacy" };
    await expect(checked(secret, { isSecured: true })).rejects.toMatchObject({ code: "STAGING_OPEN_TO_OTHERS" });
  });

  test("has to be the user's, or a trusted owner's", async () => {
    const { stat } = LocalFileSystem.prototype;
    jest.spyOn(LocalFileSystem.prototype, "stat").mockImplementation(async function (this: LocalFileSystem, file) {
      const status = await stat.call(this, file);
      return file === there.staging ? { ...status, owner: "ada" } : status;
    });
    await expect(checked({})).rejects.toMatchObject({ code: "STAGING_OWNER_NOT_TRUSTED" });
    await expect(checked({}, { user: "ada" })).resolves.toBeDefined();
    await expect(checked({ "tony.cache.trusted-owners": "ada" })).resolves.toBeDefined();
  });
});

describe("on a secured cluster", () => {
  const rpc = "lets RPC travel unencrypted, and with it the job's key and your delegation tokens";
  const webHdfs = "lets WebHDFS travel unencrypted, and with it the keytab that tony.kerberos.ship-keytab sends";
  const keytab = () => ({
    "tony.kerberos.keytab": there.file("ada.keytab", "keys"),
    "tony.kerberos.principal": "ada@EXAMPLE",
    "tony.kerberos.ship-keytab": "true",
  });
  const of = async (settings: Readonly<Record<string, string>>) => await checked(settings, { isSecured: true });

  test("a job whose secrets could be read on the network is refused, unless it accepts that", async () => {
    for (const answer of [{}, { "tony.security.allow-cleartext": "false" }])
      await expect(of(answer)).rejects.toMatchObject({
        code: "CLUSTER_REFUSES",
        message: expect.stringContaining(`${rpc}: set it to privacy`),
      });
    const { problems } = await of({ "tony.security.allow-cleartext": "true" });
    expect(problems).toMatchObject([{ severity: "warning", message: rpc }]);
    expect((await of({ "hadoop.rpc.protection": "privacy" })).problems).toEqual([]);
  });

  test("so is one whose keytab could be", async () => {
    const secret = { "hadoop.rpc.protection": "privacy", ...keytab() };
    await expect(of(secret)).rejects.toMatchObject({ message: expect.stringContaining(`${webHdfs}: use HTTPS there`) });
    const { problems } = await of({ ...secret, "tony.security.allow-cleartext": "true" });
    expect(problems).toMatchObject([{ severity: "warning", message: webHdfs }]);
    expect(await of({ ...secret, "dfs.http.policy": "HTTPS_ONLY" })).toMatchObject({
      problems: [],
      keytab: { keytab: { principal: "ada@EXAMPLE" } },
    });
  });
});
