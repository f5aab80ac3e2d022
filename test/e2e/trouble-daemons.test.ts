import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { clusterTool, controlDaemon, environmentFor, javaSecurity, testCluster } from "../support/cluster.ts";
import { requestJson } from "../support/http-json.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const alice = new Person(cluster);
const job = alice.job("refused", oneTask);
const submit = (...more: readonly string[]) => alice.run("submit", "--conf", job, ...more);

describe("a cluster in trouble: one message, exit code 3, nothing left", () => {
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("the home's quota is used up", async () => {
    await setSpaceQuota(1);
    try {
      const { exitCode, stderr } = await submit();
      expect(stderr).toMatch(/quota of \/user\/alice is exceeded: .*; remove files or ask an administrator for more/);
      expect(exitCode).toBe(3);
    } finally {
      await setSpaceQuota(-1);
    }
  });

  test("HDFS is in safe mode", async () => {
    await administer("-safemode", "enter");
    try {
      const { exitCode, stderr } = await submit();
      expect(stderr).toMatch(
        /Name node is in safe mode; the NameNode takes no writes until it leaves safe mode \(hdfs dfsadmin/,
      );
      expect(exitCode).toBe(3);
    } finally {
      await administer("-safemode", "leave");
    }
  });

  test("the NameNode is down, and doctor says so too", async () => {
    await controlDaemon(cluster, "kill", "namenode");
    try {
      const { exitCode, stdout, stderr } = await submit();
      expect(stderr).toMatch(
        /^tony-ts: The NameNode \(WebHDFS\) does not answer: .*\n {2}HADOOP_CONF_DIR is .*\n {2}tony-ts doctor/,
      );
      expect(stdout).toBe("");
      expect(exitCode).toBe(3);
      const doctor = await alice.run("doctor", "--json", "--probe=false");
      expect(JSON.parse(doctor.stdout).findings).toContainEqual(
        expect.objectContaining({ subject: "HDFS", state: "wrong" }),
      );
      expect(doctor.exitCode).toBe(3);
    } finally {
      await mend();
    }
  });

  test("the ResourceManager is down: for people on stderr, for programs as JSON alone on stdout", async () => {
    await controlDaemon(cluster, "kill", "resourcemanager");
    try {
      const patience = ["--conf", "yarn.resourcemanager.connect.max-wait.ms=3000"];
      const submitted = await submit(...patience);
      expect(submitted.stderr).toMatch(
        /^The ResourceManager at .* does not answer; still trying, for 3 s \(yarn\.resourcemanager\.connect\.max-wait\.ms\): /,
      );
      expect(submitted.stderr).toMatch(
        /^tony-ts: The ResourceManager does not answer: .*\n {2}Is it running, and is this/m,
      );
      expect(submitted.exitCode).toBe(3);
      const { exitCode, stdout, stderr } = await alice.run("list", "--json", ...patience);
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: "RPC_CONNECT_FAILED" } });
      expect(stderr).toMatch(/The ResourceManager does not answer/);
      expect(exitCode).toBe(3);
    } finally {
      await mend();
    }
  });
});

/** Starts what was killed; resolves when HDFS takes writes and YARN has all its nodes. */
async function mend(): Promise<void> {
  await clusterTool(["up", "--name", cluster.name]);
}

/** @param bytes -1 for none */
async function setSpaceQuota(bytes: number): Promise<void> {
  const parameters = `op=SETQUOTA&storagespacequota=${bytes}&namespacequota=9223372036854775807`;
  const url = `${cluster.endpoints.webHdfs}/user/alice?${parameters}`;
  const { status } = await requestJson(url, { cluster, as: cluster.users.hdfs.name, method: "PUT" });
  expect(status).toBe(200);
}

/** Hadoop's own `hdfs dfsadmin`. */
async function administer(...words: readonly string[]): Promise<void> {
  const classes = [cluster.confDir, path.join(cluster.jars, "*")].join(":");
  await promisify(execFile)(
    path.join(cluster.javaHome, "bin", "java"),
    [...javaSecurity(cluster), "-cp", classes, "org.apache.hadoop.hdfs.tools.DFSAdmin", ...words],
    { env: { ...process.env, ...environmentFor(cluster, cluster.users.hdfs.name) } },
  );
}
