import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { parseHostPort } from "../../src/hadoop/conf/values.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { WebHdfs } from "../../src/hadoop/hdfs/webhdfs.ts";
import type { WebHdfsOperation } from "../../src/hadoop/hdfs/webhdfs-connection.ts";
import { simpleCredentials, tokenCredentials } from "../../src/hadoop/security/simple-credentials.ts";
import { applicationClient, applicationMaster, containerManagement } from "../../src/hadoop/wire/methods.ts";
import { NodeManagerPool } from "../../src/hadoop/yarn/node-manager.ts";
import { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { SchedulerClient } from "../../src/hadoop/yarn/scheduler.ts";
import { type Fate, firstOf } from "../support/answer-fates.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { LossyProxy } from "../support/lossy-proxy.ts";
import { LossyWebProxy } from "../support/lossy-web-proxy.ts";
import { sweep } from "../support/sweep.ts";
import {
  applicationIn,
  endpointsOf,
  type Gathered,
  heartbeatUntil,
  nothingGathered,
  resourceManagerOf,
  shell,
  smallest,
  unmanagedApplication,
} from "../support/yarn.ts";

const cluster = await testCluster();
const credentials = simpleCredentials({ name: ClusterUser.alice });
/** A proxy reads the calls that it loses the answers of: they are not encrypted. */
const readable = tokenCredentials({ protections: ["auth"] });
const user = resourceManagerOf(cluster);
/** For answers of the RPC, which come at once, and for those of WebHDFS: some DataNodes take a while to close a file. */
const patienceMs = { rpc: 700, web: 3_000 };
const late: Fate = { delayMs: 4_000 };

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});
afterAll(async () => {
  user.close();
  await sweep(cluster);
});

async function proxyTo(address: string, fate: Fate): Promise<LossyProxy> {
  const target = parseHostPort(address);
  if (target === undefined) throw new Error(`${address} is no address`);
  const proxy = await LossyProxy.start(target, firstOf(fate));
  ended.push(() => proxy.stop());
  return proxy;
}

/** Each in a folder of its own. An open cluster gives no delegation tokens. */
type Operation = Exclude<WebHdfsOperation, "GETDELEGATIONTOKEN">;
const operations: Readonly<Record<Operation, (fs: FileSystem, folder: string) => Promise<void>>> = {
  GETHOMEDIRECTORY: async (fs) => expect(await fs.homeDirectory()).toBe("/user/alice"),
  MKDIRS: async (fs, folder) => {
    await fs.mkdirs(`${folder}/a/b`, 0o700);
    expect((await fs.stat(`${folder}/a/b`)).type).toBe("DIRECTORY");
  },
  GETFILESTATUS: async (fs, folder) => expect((await fs.stat(folder)).permission).toBe(0o700),
  CREATE: async (fs, folder) => {
    await fs.create(`${folder}/new`, Buffer.from("new"), { permission: 0o600 });
    expect(await text(await fs.open(`${folder}/new`))).toBe("new");
    await expect(fs.create(`${folder}/new`, Buffer.from("x"), { permission: 0o600 })).rejects.toMatchObject({
      code: "FILE_EXISTS",
    });
  },
  OPEN: async (fs, folder) => {
    await fs.create(`${folder}/file`, Buffer.from("content"), { permission: 0o600, overwrite: true });
    expect(await text(await fs.open(`${folder}/file`))).toBe("content");
  },
  LISTSTATUS: async (fs, folder) => {
    await fs.create(`${folder}/file`, Buffer.from("content"), { permission: 0o600, overwrite: true });
    expect((await fs.list(folder)).map((found) => found.path)).toEqual([`${folder}/file`]);
  },
  GET_BLOCK_LOCATIONS: async (fs, folder) => {
    await fs.create(`${folder}/file`, Buffer.from("content"), { permission: 0o600, overwrite: true });
    expect(await fs.blockAt(`${folder}/file`)).toMatchObject({ isBeingWritten: false });
  },
  CHECKACCESS: async (fs, folder) => {
    await expect(fs.checkWritable(folder)).resolves.toBeUndefined();
    await expect(fs.checkWritable("/")).rejects.toMatchObject({ code: "ACCESS_DENIED" });
  },
  APPEND: async (fs, folder) => {
    await fs.create(`${folder}/log`, Buffer.from("one "), { permission: 0o600, overwrite: true });
    for (const word of ["two ", "three"]) await fs.append(`${folder}/log`, Buffer.from(word));
    expect(await text(await fs.open(`${folder}/log`))).toBe("one two three");
  },
  RENAME: async (fs, folder) => {
    for (const name of ["one", "two"]) {
      await fs.create(`${folder}/${name}`, Buffer.from(name), { permission: 0o600, overwrite: true });
    }
    expect(await fs.rename(`${folder}/one`, `${folder}/three`)).toBe(true);
    expect(await fs.rename(`${folder}/two`, `${folder}/three`)).toBe(false);
    expect(await fs.rename(`${folder}/two`, `${folder}/three`, { overwrite: true })).toBe(true);
    expect((await fs.list(folder)).map((found) => found.path)).toEqual([`${folder}/three`]);
  },
  DELETE: async (fs, folder) => {
    expect(await fs.delete(folder, { recursive: true })).toBe(true);
    expect(await fs.delete(folder, { recursive: true })).toBe(false);
  },
  SETPERMISSION: async (fs, folder) => {
    await fs.setPermission(folder, 0o711);
    expect((await fs.stat(folder)).permission).toBe(0o711);
  },
  SETREPLICATION: async (fs, folder) => {
    await fs.create(`${folder}/file`, Buffer.from("content"), { permission: 0o600, overwrite: true });
    await expect(fs.setReplication(`${folder}/file`, 2)).resolves.toBeUndefined();
    await expect(fs.setReplication(`${folder}/none`, 2)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  },
  SETTIMES: async (fs, folder) => {
    await fs.create(`${folder}/file`, Buffer.from("content"), { permission: 0o600, overwrite: true });
    await fs.setTimes(`${folder}/file`, { modificationTimeMs: 1_000 });
    expect((await fs.stat(`${folder}/file`)).modificationTimeMs).toBe(1_000);
  },
};

const fates: readonly (readonly [string, Fate])[] = [
  ["is dropped", "drop"],
  ["is cut off", "cut"],
  ["comes twice", "double"],
  ["comes too late", late],
];

/** Those with data have two answers: of the NameNode and of the DataNode. */
const answered = Object.entries(operations).flatMap(([operation, carryOut]) =>
  (["OPEN", "CREATE", "APPEND"].includes(operation) ? [operation, `${operation} data`] : [operation]).map((method) => ({
    method,
    carryOut,
  })),
);

describe.each(fates)("the first answer %s", (_what, fate) => {
  test("to each operation of WebHDFS: it took place, once", async () => {
    const results = await Promise.allSettled(
      answered.map(({ method, carryOut }) => carriedOut(method, fate, carryOut)),
    );
    const failed = results.flatMap((result, index) =>
      result.status === "rejected" ? [`${answered[index]?.method}: ${result.reason}`] : [],
    );
    expect(failed).toEqual([]);
  });

  test("to each call to YARN: an application lives and ends as if nothing had been lost, its container runs once", async () => {
    const { resourceManagerRpc, schedulerRpc } = cluster.endpoints;
    const [clientProxy, masterProxy] = [await proxyTo(resourceManagerRpc, fate), await proxyTo(schedulerRpc, fate)];
    const client = new ResourceManagerClient({
      endpoints: endpointsOf(clientProxy.address),
      credentials,
      callTimeoutMs: patienceMs.rpc,
    });
    ended.push(() => client.close());
    await readEverything(client);

    const { id, token } = await unmanagedApplication(client);
    const scheduler = new SchedulerClient({
      endpoints: endpointsOf(masterProxy.address),
      token,
      credentials: readable,
      callTimeoutMs: patienceMs.rpc,
    });
    ended.push(() => scheduler.close());
    await scheduler.register({ host: "test", rpcPort: 1, trackingUrl: "" });
    scheduler.ask([{ priority: 1, resourceName: "*", capability: smallest, count: 1 }]);
    const gathered = await heartbeatUntil(scheduler, nothingGathered(), "a container", (so) => so.allocated.length > 0);
    const { currentAttemptId = "" } = await client.report(id);
    const held = await client.containers(currentAttemptId);
    expect(held.map(({ containerId }) => containerId)).toEqual(gathered.allocated.map(({ id: own }) => own));
    const nodeProxy = await runOnce(gathered, fate);
    const hasEnded = ({ completed }: Gathered) => completed.some(({ exitStatus }) => exitStatus === -105);
    await heartbeatUntil(scheduler, gathered, "its end", hasEnded);
    expect(gathered.allocated).toHaveLength(1);
    await scheduler.finish({ status: "SUCCEEDED", diagnostics: "", trackingUrl: "" });
    expect((await applicationIn(client, id, "FINISHED")).finalStatus).toBe("SUCCEEDED");

    const other = await unmanagedApplication(client);
    await client.kill(other.id);
    await applicationIn(client, other.id, "KILLED");

    expect([...clientProxy.fates.answers.keys()].sort()).toEqual(Object.keys(applicationClient).sort());
    expect([...masterProxy.fates.answers.keys()].sort()).toEqual(Object.keys(applicationMaster).sort());
    expect([...nodeProxy.fates.answers.keys()].sort()).toEqual(Object.keys(containerManagement).sort());
  });
});

/** Whatever the ResourceManager can be asked without changing anything. */
async function readEverything(client: ResourceManagerClient): Promise<void> {
  const answers = await Promise.all([
    client.metrics(),
    client.nodes(["RUNNING"]),
    client.queue("default"),
    client.queueUserAcls(),
    client.nodeLabels(),
    client.nodeAttributes(),
    client.resourceTypes(),
    client.reports({ limit: 1 }),
    client.delegationToken("yarn"),
  ]);
  expect(answers[0].nodeManagers).toBe(cluster.nodes.length);
  expect(answers[1]).toHaveLength(cluster.nodes.length);
  for (const answer of answers) expect(answer).toBeDefined();
}

/** Starts the container's program at its node, through a proxy, and stops it when it has begun. */
async function runOnce({ allocated, nodeTokens }: Gathered, fate: Fate): Promise<LossyProxy> {
  const [container] = allocated;
  const [given] = nodeTokens;
  if (container === undefined || given === undefined)
    throw new Error("there is no container, or no token for its node");
  const proxy = await proxyTo(container.nodeId, fate);
  const pool = new NodeManagerPool({ credentials: readable, callTimeoutMs: patienceMs.rpc });
  ended.push(() => pool.close());
  pool.addTokens([{ nodeId: proxy.address, token: { ...given.token, service: proxy.address } }]);
  const starts = path.join(mkdtempSync(path.join(tmpdir(), "tony-starts-")), "starts");
  chmodSync(path.dirname(starts), 0o777);
  ended.push(() => rmSync(path.dirname(starts), { recursive: true }));
  const launch = shell(`echo begun >> ${starts}; exec sleep 300`);
  expect(await pool.start(proxy.address, [{ container, launch }])).toEqual({ succeeded: [container.id], failed: [] });
  await eventually("its program's beginning", () => existsSync(starts) && readFileSync(starts, "utf8") !== "");
  expect(await pool.stop(proxy.address, [container.id])).toEqual({ succeeded: [container.id], failed: [] });
  expect(readFileSync(starts, "utf8")).toBe("begun\n");
  return proxy;
}

async function carriedOut(
  method: string,
  fate: Fate,
  carryOut: (fs: FileSystem, folder: string) => Promise<void>,
): Promise<void> {
  const nameNode = cluster.endpoints.webHdfs.replace(/^http:\/\/|\/webhdfs.*$/g, "");
  const proxy = await LossyWebProxy.start(nameNode, (asked, nth) => (asked === method && nth === 1 ? fate : "pass"));
  const fileSystem = new WebHdfs({
    uri: cluster.endpoints.hdfs,
    endpoints: [`http://${proxy.address}`],
    credentials,
    answerTimeoutMs: patienceMs.web,
    idleTimeoutMs: patienceMs.web,
  });
  const folder = `/user/alice/lost-${randomBytes(6).toString("hex")}`;
  try {
    await fileSystem.mkdirs(folder, 0o700);
    await carryOut(fileSystem, folder);
    expect(proxy.fates.lost).toBe(1);
  } finally {
    await fileSystem.delete(folder, { recursive: true });
    fileSystem.close();
    await proxy.stop();
  }
}
