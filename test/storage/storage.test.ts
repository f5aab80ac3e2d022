import { writeFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { requestJson } from "../support/http-json.ts";
import { listenLocally, localAddress } from "../support/local-port.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

/** An address that leads to a server until it is closed. */
class ClosableWay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: URL) {
    this.#server = createServer((client) => {
      const server = connect(Number(target.port), target.hostname);
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket
          .on("close", () => this.#sockets.delete(socket))
          .on("error", () => [client, server].map((s) => s.destroy()));
      }
      client.pipe(server).pipe(client);
    });
  }

  /** @param target `http://host:port` */
  static async open(target: string): Promise<ClosableWay> {
    const way = new ClosableWay(new URL(target));
    await listenLocally(way.#server);
    return way;
  }

  /** `http://host:port` */
  get url(): string {
    return `http://${localAddress(this.#server)}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const cluster = await testCluster();
const { hdfs, webHdfs, httpFs = "no HttpFS", router = "http://no-router" } = cluster.endpoints;
const alice = new Person(cluster);
afterAll(() => alice.leave());
afterEach(() => sweep(cluster));

/** A job whose executor uploads what its program leaves, so that client, ApplicationMaster and executor all use the file system. */
const uploads = (output: string) => ({
  ...oneTask,
  "tony.worker.command": "echo result; echo 42 > out/result",
  "tony.output.local-dir": "out",
  "tony.output.dir": output,
});

/** Whether the result of that job is in the folder of HDFS, asked of the NameNode itself. */
async function wasUploaded(folder: string, id: string): Promise<boolean> {
  const path = `${folder}/${id}/worker-0/result`;
  return (await requestJson(`${webHdfs}${path}?op=GETFILESTATUS&user.name=alice`)).status === 200;
}

const idIn = (text: string) => /application_\d+_\d+/.exec(text)?.[0] ?? "no id";

describe("behind HttpFS", () => {
  /** A NameNode's web address that nobody can reach. */
  const walledOff = { "dfs.namenode.http-address": "127.0.0.1:1" };

  test("a job runs, and its logs are read, where nobody reaches the NameNode", async () => {
    const settings = { ...uploads("hdfs:///user/alice/all-by-httpfs"), ...walledOff, "tony.hdfs.endpoint": httpFs };
    const { exitCode, stdout } = await alice.run("submit", "--conf", alice.job("all", settings));
    expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0/);
    expect(exitCode).toBe(0);
    expect(await wasUploaded("/user/alice/all-by-httpfs", idIn(stdout))).toBe(true);

    const elsewhere = ["tony.hdfs.endpoint", "dfs.namenode.http-address"].flatMap((key) => [
      "--conf",
      `${key}=${key === "tony.hdfs.endpoint" ? httpFs : walledOff["dfs.namenode.http-address"]}`,
    ]);
    const logs = await alice.run("logs", idIn(stdout), "worker:0", ...elsewhere);
    expect(logs.stdout).toBe("result\n");
    expect((await alice.run("doctor", "--probe=false", ...elsewhere)).stdout).toMatch(/✓ HDFS/);
  });

  test.each([
    { name: "another-gateway", endpoint: httpFs, more: walledOff },
    { name: "no-gateway", endpoint: "namenode", more: {} },
  ])("the nodes use what is set for them: $name", async ({ name, endpoint, more }) => {
    const way = await ClosableWay.open(httpFs);
    const folder = alice.shared(`${name}-shared`);
    const settings = {
      ...uploads(`hdfs:///user/alice/${name}`),
      ...more,
      "tony.worker.command": `until test -e ${folder}/go; do sleep 0.1; done; echo 42 > out/result`,
      "tony.hdfs.endpoint": way.url,
      "tony.hdfs.node-endpoint": endpoint,
    };
    const { stdout } = await alice.run("submit", "--detach", "--conf", alice.job(name, settings));
    await way.close();
    writeFileSync(`${folder}/go`, "");
    expect((await alice.run("wait", stdout.trim())).exitCode).toBe(0);
    expect(await wasUploaded(`/user/alice/${name}`, stdout.trim())).toBe(true);
  });
});

test("a mount table of viewfs as the default file system", async () => {
  const settings = {
    ...uploads("viewfs:///user/alice/by-viewfs"),
    "fs.defaultFS": "viewfs://site",
    "fs.viewfs.mounttable.site.link./user": `${hdfs}/user`,
    "fs.viewfs.mounttable.site.link./tmp": `${hdfs}/tmp`,
  };
  const { exitCode, stdout } = await alice.run("submit", "--conf", alice.job("view", settings));
  expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0/);
  expect(exitCode).toBe(0);
  expect(await wasUploaded("/user/alice/by-viewfs", idIn(stdout))).toBe(true);

  const view = Object.entries(settings).filter(([key]) => key.startsWith("fs."));
  const conf = view.flatMap(([key, value]) => ["--conf", `${key}=${value}`]);
  expect((await alice.run("logs", idIn(stdout), "worker:0", ...conf)).stdout).toBe("result\n");
});

test("a router of HDFS's federation as the default file system", async () => {
  const { hostname, host } = new URL(router);
  const routed = { "fs.defaultFS": `hdfs://${hostname}:8888`, "dfs.namenode.http-address": host };
  const settings = { ...uploads("hdfs:///user/alice/by-router"), ...routed };
  const { exitCode, stdout } = await alice.run("submit", "--conf", alice.job("routed", settings));
  expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0/);
  expect(exitCode).toBe(0);
  expect(await wasUploaded("/user/alice/by-router", idIn(stdout))).toBe(true);

  const conf = Object.entries(routed).flatMap(([key, value]) => ["--conf", `${key}=${value}`]);
  expect((await alice.run("logs", idIn(stdout), "worker:0", ...conf)).stdout).toBe("result\n");
  expect((await alice.run("doctor", "--probe=false", ...conf)).stdout).toMatch(/✓ HDFS/);
});

describe("where the default file system is an object store", () => {
  const store = "fs.defaultFS=s3a://bucket";

  test("submit and doctor say that the files of jobs may lie elsewhere", async () => {
    const job = alice.job("store", oneTask);
    const submitted = await alice.run("submit", "--conf", job, "--conf", store);
    expect(submitted.stderr).toMatch(/names the file system "s3a", which is not supported/);
    expect(submitted.stderr).toMatch(/tony\.staging-dir=hdfs:\/\//);
    expect(submitted.exitCode).toBe(3);
    const doctor = await alice.run("doctor", "--probe=false", "--conf", store);
    expect(doctor.stdout).toMatch(/✗ HDFS .*s3a[\s\S]*tony\.staging-dir=hdfs:\/\//);
  });

  test("a job runs with its files in HDFS, and logs says where YARN has put them", async () => {
    const settings = { ...oneTask, "tony.staging-dir": `${hdfs}/user/alice/.tony-ts` };
    const { exitCode, stdout } = await alice.run("submit", "--conf", alice.job("beside", settings), "--conf", store);
    expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0/);
    expect(exitCode).toBe(0);
    const id = idIn(stdout);
    const logs = await alice.run("logs", id, "--conf", store);
    expect(logs.stderr).toContain(
      "The logs are in s3a://bucket/tmp/logs/alice, a file system that tony-ts does not read",
    );
    expect(logs.stderr).toContain(`yarn logs -applicationId ${id}`);
    expect(logs.exitCode).toBe(3);
  });
});
