import { createServer, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { afterEach, expect, jest, test } from "@jest/globals";
import type { Finding } from "../../../client/cluster/findings.ts";
import { mastersFindings } from "../../../client/cluster/masters.ts";
import { makeServerKey } from "../../../src/api/server-key.ts";
import { Configuration } from "../../../src/hadoop/conf/configuration.ts";
import { HttpClient } from "../../../src/hadoop/http/client.ts";
import type { CredentialsProvider, HttpService } from "../../../src/hadoop/security/credentials-provider.ts";
import { AuthenticationError } from "../../../src/hadoop/security/errors.ts";
import { simpleCredentials } from "../../../src/hadoop/security/simple-credentials.ts";
import { listenLocally, localAddress } from "../../support/local-port.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const info = (haState: string) => ({ "/ws/v1/cluster/info": { clusterInfo: { haState, hadoopVersion: "3.4.2" } } });
const scheduler = { "/ws/v1/cluster/scheduler": { scheduler: { schedulerInfo: { type: "capacityScheduler" } } } };
const nameNode = (State: string) => ({
  "/jmx?qry=Hadoop:service=NameNode,name=NameNodeStatus": { beans: [{ State }] },
});

/** A web server of a master that answers so, as JSON where that is asked for. @returns its address */
async function serving(answers: Readonly<Record<string, object>>): Promise<string> {
  const server = createServer(({ url = "", headers }, response) => {
    const [, answer] = Object.entries(answers).find(([path]) => decodeURIComponent(url).startsWith(path)) ?? [];
    response.statusCode = answer === undefined ? 404 : 200;
    const isJson = answer !== undefined && headers.accept === "application/json";
    response.end(isJson ? JSON.stringify(answer) : "<html/>");
  });
  return await listening(server);
}

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await listenLocally(server);
  return localAddress(server);
}

/** Nobody listens there. */
const SILENT = "127.0.0.1:1";

const ada = simpleCredentials({ name: "ada" });

async function look(
  managers: readonly string[],
  nameNodes: readonly string[],
  credentials: CredentialsProvider = ada,
): Promise<readonly Finding[]> {
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
  return await mastersFindings({ configuration, credentials });
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
  return await mastersFindings({ configuration: new Configuration().withValues(hadoop), credentials: ada });
}

test("of a NameNode whose web address is nowhere written one guess is told that is silent, not both", async () => {
  const findings = await lookAtDefault({ "fs.defaultFS": "hdfs://127.0.0.1:8020" });
  expect(findings.at(-1)?.found).toMatch(/^NameNode 127\.0\.0\.1:\d+ does not answer$/);
});

test("no NameNode is asked of another file system than HDFS, nor a ResourceManager that nothing names", async () => {
  expect(await lookAtDefault({ "fs.defaultFS": "viewfs://ns" })).toEqual([]);
});

test("the guess that answers is told, whichever it is", async () => {
  const active = await serving(nameNode("active"));
  for (const guesses of [
    [SILENT, active],
    [active, SILENT],
  ]) {
    const [, nameNodes] = await look([SILENT], guesses);
    expect(nameNodes).toEqual({ subject: "masters", state: "well", found: `NameNode ${active} active` });
  }
});

test("of NameNodes on several hosts each one that is silent is told", async () => {
  const [, nameNodes] = await look([SILENT], [SILENT, "127.0.0.2:1"]);
  expect(nameNodes?.found).toBe("NameNode 127.0.0.1:1 does not answer, 127.0.0.2:1 does not answer");
});

test("an active ResourceManager that does not show its scheduler is told without one", async () => {
  const active = await serving(info("ACTIVE"));
  const [managers] = await look([active], [SILENT]);
  expect(managers?.found).toBe(`ResourceManager ${active} active; Hadoop 3.4.2`);
});

test("one that does not know the caller is told with its first words, and may be open to everybody", async () => {
  const address = await serving(nameNode("active"));
  const asked: HttpService[] = [];
  const forHttp = async (service: HttpService) => {
    asked.push(service);
    throw new AuthenticationError(`${address} wants a ticket\n  kinit`, { code: "KERBEROS_NO_TICKET" });
  };
  const [, nameNodes] = await look([SILENT], [address], { ...ada, forHttp });
  expect(nameNodes).toMatchObject({ state: "remark", found: `NameNode ${address} wants a ticket` });
  expect(asked.map(({ mayBeOpen }) => mayBeOpen)).not.toContain(undefined);
});

test("one whose certificate nobody signed who is trusted is told with that, by HTTPS where the site serves its pages so", async () => {
  const { certificate: cert, privateKey: key } = makeServerKey("rm", Date.now());
  const address = await listening(createSecureServer({ cert, key }));
  const [managers] = await lookAtDefault({
    "fs.defaultFS": "viewfs://ns",
    "yarn.http.policy": "HTTPS_ONLY",
    "yarn.resourcemanager.webapp.https.address": address,
  });
  expect(managers?.found).toMatch(
    new RegExp(`^ResourceManager ${address} shows a certificate that is not trusted: .* \\(\\w+\\)$`),
  );
});

test("the connections are closed when all have answered", async () => {
  const close = jest.spyOn(HttpClient.prototype, "close");
  await look([SILENT], [SILENT]);
  expect(close).toHaveBeenCalledTimes(1);
  close.mockRestore();
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
