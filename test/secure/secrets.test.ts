import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "@jest/globals";
import { httpRequest } from "../../scripts/cluster/http.mjs";
import { errorCode } from "../../src/hadoop/errors.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { fileSystemsOf } from "../support/file-systems.ts";
import { Person } from "../support/person.ts";
import { processTexts, readableByOthers, type Secret, secretsIn, secretsOf } from "../support/secrets.ts";

const cluster = await testCluster();
const { alice, bob } = ClusterUser;

/** The runtime is on every node: nothing of it is sent. */
const installed = { "tony.node.binary": `local:${process.execPath}` };

/** Larger than anything that a job writes; programs that are shipped are larger. */
const mostBytes = 16 << 20;

/** What must be found wherever it was put, so that what is not found is not there. */
const planted: Secret = { name: "planted", bytes: randomBytes(20) };
const { hex, base64 } = {
  hex: Buffer.from(planted.bytes).toString("hex"),
  base64: Buffer.from(planted.bytes).toString("base64"),
};

/** What was found, by where it was. */
type Sightings = Readonly<Record<string, readonly string[]>>;

const found = (places: readonly (readonly [where: string, names: readonly string[]])[]): Sightings =>
  Object.fromEntries(places.filter(([, names]) => names.length > 0));

/** In every file of HDFS that this user can read. */
async function inHdfs(user: string, secrets: readonly Secret[]): Promise<Sightings> {
  const fileSystems = fileSystemsOf(cluster, user);
  try {
    const { fileSystem } = fileSystems.locate("/");
    const places: [string, string[]][] = [];
    for await (const file of filesBelow(fileSystem, "/")) {
      const bytes = await unlessForbidden(async () => buffer(await fileSystem.open(file)));
      if (bytes !== undefined) places.push([file, secretsIn(bytes, secrets)]);
    }
    return found(places);
  } finally {
    fileSystems.close();
  }
}

async function* filesBelow(fileSystem: FileSystem, folder: string): AsyncGenerator<string> {
  for (const entry of (await unlessForbidden(() => fileSystem.list(folder))) ?? []) {
    if (entry.type === "DIRECTORY") yield* filesBelow(fileSystem, entry.path);
    else if (entry.lengthBytes <= mostBytes) yield entry.path;
  }
}

/** Undefined too for what has gone meanwhile. */
async function unlessForbidden<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if (["ACCESS_DENIED", "FILE_NOT_FOUND"].includes(String(errorCode(error)))) return undefined;
    throw error;
  }
}

/** In the files of this machine that bob may read by their modes: those of jobs on its nodes, and what its daemons log. */
function inFiles(secrets: readonly Secret[]): Sightings {
  const files = [...cluster.nodes.map(({ folder }) => folder), cluster.logs].flatMap(readableByOthers);
  return found(files.map((file) => [file, secretsIn(readFileSync(file), secrets)]));
}

const inCommandLines = (secrets: readonly Secret[]): readonly string[] =>
  processTexts("cmdline").flatMap(({ text }) => secretsIn(text, secrets));

/** Whether an environment is that of the first container of an application, in which its ApplicationMaster runs. */
const isOfMaster = (environment: Buffer): boolean =>
  /(^|\0)CONTAINER_ID=\w+_000001\0/.test(environment.toString("latin1"));

function inEnvironments(secrets: readonly Secret[], isMeant: (environment: Buffer) => boolean): readonly string[] {
  const texts = processTexts("environ").filter(({ text }) => isMeant(text));
  return [...new Set(texts.flatMap(({ text }) => secretsIn(text, secrets)))].sort();
}

/** In what the daemons' pages show bob of everything, and of this application. */
async function inPages(id: string, secrets: readonly Secret[]): Promise<readonly string[]> {
  const manager = cluster.endpoints.resourceManager;
  const pages = [
    ...["/cluster/apps", `/cluster/app/${id}`, `/proxy/${id}/`].map((page) => `${manager}${page}`),
    ...[`apps/${id}`, `apps/${id}/appattempts`, "apps", "info", "scheduler"].map(
      (page) => `${manager}/ws/v1/cluster/${page}`,
    ),
    ...cluster.nodes.flatMap(({ http }) => [`${http}/node/allContainers`, `${http}/ws/v1/node/containers`]),
    ...cluster.daemons.flatMap(({ url }) =>
      url === undefined ? [] : ["jmx", "conf", "stacks"].map((page) => `${url}/${page}`),
    ),
  ];
  const texts = await Promise.all(pages.map((page) => httpRequest(cluster, page, { as: bob, timeoutMs: 60_000 })));
  return [...new Set(texts.flatMap(({ text }) => secretsIn(Buffer.from(text), secrets)))];
}

describe("the secrets of a job of alice's", () => {
  const suite = new FaultSuite(cluster);
  const person = new Person(cluster, alice);
  const bobs = fileSystemsOf(cluster, bob);
  afterAll(async () => {
    bobs.close();
    await person.leave();
  });

  test("are nowhere that bob can read, while it runs and afterwards", async () => {
    const file = path.join(person.folder, "password");
    writeFileSync(file, randomBytes(20).toString("hex"));
    const job = await suite.submit({ settings: { ...installed, "tony.application.secrets": `PASSWORD=file:${file}` } });
    await job.running(1);
    const real = secretsOf(cluster, job.id);
    expect(real.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        ...[
          "tony.application.key",
          "clients' of tony.application.key",
          "tony.executor.secret",
          "tony.program.PASSWORD",
        ],
        ...["password of HDFS_DELEGATION_TOKEN", "password of RM_DELEGATION_TOKEN", "password of YARN_AM_RM_TOKEN"],
      ]),
    );
    const secrets = [...real, planted];

    const { fileSystem, path: plantedFile } = bobs.locate(`/user/${bob}/planted`);
    await fileSystem.create(plantedFile, Buffer.from(`token: ${base64}`), { permission: 0o600, overwrite: true });
    expect(await inHdfs(bob, secrets)).toEqual({ [plantedFile]: ["planted"] });
    await fileSystem.delete(plantedFile);

    const local = path.join(cluster.nodes[0]?.folder ?? "", "logs", "planted");
    writeFileSync(local, `key ${hex.toUpperCase()}`, { mode: 0o644 });
    expect(inFiles(secrets)).toEqual({ [local]: ["planted"] });

    const sleeper = spawn("sleep", ["300"], {
      argv0: base64,
      env: { KEY: Buffer.from(planted.bytes).toString("base64url") },
    });
    expect(inCommandLines(secrets)).toEqual(["planted"]);
    // A program has what was given to it, in what its user alone can read.
    expect(inEnvironments(secrets, (text) => !isOfMaster(text))).toEqual(["planted", "tony.program.PASSWORD"]);
    // By YARN itself: what opens the key store by which the job's page is served.
    const stores = ["keystore", "truststore"].map((store) => `yarn.application.am.${store}.password`);
    expect(inEnvironments(secrets, isOfMaster)).toEqual(stores);
    sleeper.kill("SIGKILL");

    const known = { name: "its id", bytes: Buffer.from(job.id) };
    expect(await inPages(job.id, [...real, known])).toEqual([known.name]);

    expect((await job.end()).exitCode).toBe(0);
    // Not even where alice's own logs and history are.
    const { stdout } = await job.command("logs", "--logs", "all");
    expect(secretsIn(Buffer.from(stdout), real)).toEqual([]);
    // NodeManagers store the script that starts a container, with what YARN itself puts into its environment.
    const stored = Object.values(await inHdfs(cluster.users.hdfs.name, real)).flat();
    expect([...new Set(stored)].sort()).toEqual(stores);
    expect(inFiles(real)).toEqual({});
  });
});
