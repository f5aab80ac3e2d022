import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { afterEach, expect, test } from "@jest/globals";
import type { Finding } from "../../../client/cluster/findings.ts";
import { mastersFindings } from "../../../client/cluster/masters.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const info = (haState: string) => ({ "/ws/v1/cluster/info": { clusterInfo: { haState, hadoopVersion: "3.4.2" } } });
const scheduler = { "/ws/v1/cluster/scheduler": { scheduler: { schedulerInfo: { type: "capacityScheduler" } } } };
const nameNode = (State: string) => ({
  "/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus": { beans: [{ State }] },
});

/** A web server of a master that answers so, or refuses everybody. @returns its address */
async function serving(answers: Readonly<Record<string, object>>, refusal?: number): Promise<string> {
  const server = createServer(({ url = "" }, response) => {
    const [, answer] = Object.entries(answers).find(([path]) => decodeURIComponent(url).startsWith(path)) ?? [];
    response.statusCode = refusal ?? (answer === undefined ? 404 : 200);
    response.end(JSON.stringify(answer ?? {}));
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}

/** Nobody listens there. */
const SILENT = "127.0.0.1:1";

async function look(managers: readonly string[], nameNodes: readonly string[]): Promise<readonly Finding[]> {
  const ids = managers.map((_, index) => `rm${index}`);
  const names = nameNodes.map((_, index) => `nn${index}`);
  const configuration = new Configuration().withValues({
    "fs.defaultFS": "hdfs://ns",
    "dfs.nameservices": "ns",
    "dfs.ha.namenodes.ns": names.join(),
    ...Object.fromEntries(nameNodes.map((address, index) => [`dfs.namenode.http-address.ns.nn${index}`, address])),
    "yarn.resourcemanager.ha.enabled": "true",
    "yarn.resourcemanager.ha.rm-ids": ids.join(),
    ...Object.fromEntries(
      managers.map((address, index) => [`yarn.resourcemanager.webapp.address.rm${index}`, address]),
    ),
    ...Object.fromEntries(managers.map((_, index) => [`yarn.resourcemanager.hostname.rm${index}`, "127.0.0.1"])),
  });
  return await mastersFindings({ configuration, credentials: simpleCredentials({ name: "ada" }) });
}

test("each ResourceManager and NameNode is asked what it is, and the active one for its scheduler", async () => {
  const [standby, active] = [await serving(info("STANDBY")), await serving({ ...info("ACTIVE"), ...scheduler })];
  const nameNodes = [await serving(nameNode("active")), await serving(nameNode("standby"))];
  expect(await look([standby, active], nameNodes)).toEqual([
    {
      subject: "masters",
      state: "well",
      found: `ResourceManager ${standby} standby, ${active} active; Hadoop 3.4.2; CapacityScheduler`,
    },
    { subject: "masters", state: "well", found: `NameNode ${nameNodes[0]} active, ${nameNodes[1]} standby` },
  ]);
});

/** Of one ResourceManager and one NameNode, neither of which has a web address of its own. */
async function lookAtDefault(hadoop: Readonly<Record<string, string>>): Promise<readonly Finding[]> {
  const credentials = simpleCredentials({ name: "ada" });
  return await mastersFindings({ configuration: new Configuration().withValues(hadoop), credentials });
}

test("of a NameNode whose web address is nowhere written one guess is told that is silent, not both", async () => {
  const findings = await lookAtDefault({ "fs.defaultFS": "hdfs://127.0.0.1:8020" });
  expect(findings.at(-1)?.found).toMatch(/^NameNode 127\.0\.0\.1:\d+ does not answer$/);
});

test("no NameNode is asked of another file system than HDFS", async () => {
  const findings = await lookAtDefault({ "fs.defaultFS": "viewfs://ns" });
  expect(findings.filter(({ found }) => found.startsWith("NameNode"))).toEqual([]);
});

test("one that is silent is told beside the other, and is no refusal", async () => {
  const active = await serving({ ...info("ACTIVE"), ...scheduler });
  const [managers] = await look([active, SILENT], [await serving(nameNode("active"))]);
  expect(managers).toMatchObject({
    state: "remark",
    found: expect.stringContaining(`${SILENT} does not answer`),
    remedy: `start ${SILENT}: nothing takes over from the other one`,
  });
});
