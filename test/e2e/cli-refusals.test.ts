import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { CacheListJson } from "../../client/printed-json.ts";
import { ClusterUser, environmentFor, testCluster } from "../support/cluster.ts";
import { sweep } from "../support/sweep.ts";
import { tonyTs } from "../support/tony-ts.ts";

const cluster = await testCluster();
const alice = environmentFor(cluster, ClusterUser.alice);
const homeless = environmentFor(cluster, ClusterUser.homeless);

const job = `<configuration>
<property><name>tony.application.framework</name><value>generic</value></property>
<property><name>tony.worker.instances</name><value>1</value></property>
<property><name>tony.worker.memory</name><value>512m</value></property>
<property><name>tony.worker.command</name><value>true</value></property>
</configuration>
`;

describe("what cannot work is said before anything is on the cluster", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "cli-refusals-"));
    await writeFile(join(folder, "job.xml"), job);
  });
  afterAll(() => rm(folder, { recursive: true }));
  afterEach(() => sweep(cluster));

  test.each([
    [
      "memory beyond the largest container",
      "tony.worker.memory=100g",
      /a worker asks for 100 GiB, the largest container/,
    ],
    ["an unknown label", "tony.worker.node-label=tpu", /label tpu, which does not exist: there are gpu/],
    ["a label that the queue does not reach", "tony.worker.node-label=gpu", /but queue default reaches/],
    [
      "an unknown resource type",
      "tony.worker.resource.yarn.io/fpga=1",
      /yarn\.io\/fpga, which is not a resource type of the cluster; it has/,
    ],
  ])("%s: exit code 3", async (_what, setting, message) => {
    const { exitCode, stdout, stderr } = await tonyTs(
      ["submit", "--conf", join(folder, "job.xml"), "-conf", setting],
      alice,
    );
    expect(stderr).toMatch(message);
    expect(stdout).toBe("");
    expect(exitCode).toBe(3);
  });

  test("a check starts nothing on this machine", async () => {
    const caches = join(folder, "caches");
    const submit = ["submit", "--conf", join(folder, "job.xml"), "--dry-run"];
    const { exitCode, stdout } = await tonyTs(submit, { ...alice, XDG_CACHE_HOME: caches });
    expect(stdout).toContain("Nothing was uploaded or submitted; every check passed");
    expect(exitCode).toBe(0);
    // No job was run to fill them: there is at most what this command itself has compiled.
    const made = await readdir(caches, { recursive: true });
    expect(made.filter((name) => name.endsWith(".cache")).length).toBeLessThanOrEqual(1);
  });

  test("a check refuses a secret that a submission could not send", async () => {
    const secret = ["-conf", "tony.application.secrets=TOKEN=env:NOT_SET_HERE"];
    const submit = ["submit", "--conf", join(folder, "job.xml"), ...secret];
    const [checked, submitted] = await Promise.all([tonyTs([...submit, "--dry-run"], alice), tonyTs(submit, alice)]);
    expect(checked.stderr).toContain("the secret TOKEN: env:NOT_SET_HERE is not set, or empty");
    expect(checked).toEqual(submitted);
    expect(checked.exitCode).toBe(2);
  });

  test.each([
    ["an unknown queue", "mll", /warning: there is no queue mll: did you mean ml\?/, /unknown queue: mll/],
    ["a queue that only holds others", "root", /warning: queue root takes no .* itself/, /non-leaf queue : root/],
  ])("%s is warned of, and the ResourceManager refuses it: exit code 3", async (_what, queue, warning, refusal) => {
    const { exitCode, stderr } = await tonyTs(
      ["submit", "--conf", join(folder, "job.xml"), "-conf", `tony.yarn.queue=${queue}`],
      alice,
    );
    expect(stderr).toMatch(warning);
    expect(stderr).toMatch(refusal);
    expect(stderr).toContain(`It asks for queue ${queue} (tony.yarn.queue)`);
    expect(exitCode).toBe(3);
  });

  test.each([
    ["a misspelt key", ["-conf", "tony.worker.memroy=1g"], /did you mean tony\.worker\.memory\?/],
    ["a file that is not there", ["-conf", "tony.containers.resources=none.py"], /none\.py does not exist/],
    [
      "a runtime that is no program",
      ["-conf", "tony.node.binary=/etc/hostname"],
      /Set tony\.node\.binary to an official Node/,
    ],
  ])("%s: exit code 2", async (_what, options, message) => {
    const { exitCode, stderr } = await tonyTs(["submit", "--conf", join(folder, "job.xml"), ...options], alice);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(2);
  });

  test("a user without a home is told of tony.staging-dir", async () => {
    const { exitCode, stderr } = await tonyTs(["submit", "--conf", join(folder, "job.xml")], homeless);
    expect(stderr).toMatch(/You have no home folder: .*\/user\/nohome does not exist\. Set tony\.staging-dir/);
    expect(exitCode).toBe(3);
  });

  test("a folder without site files is not a configuration", async () => {
    const { exitCode, stderr } = await tonyTs(["list"], { ...alice, HADOOP_CONF_DIR: folder });
    expect(stderr).toMatch(/holds no core-site\.xml[\s\S]*--scheduler local/);
    expect(exitCode).toBe(3);
  });

  test("an application that does not exist", async () => {
    const { exitCode, stderr } = await tonyTs(["status", "application_1_0001"], alice);
    expect(stderr).toMatch(/application_1_0001/);
    expect(exitCode).toBe(3);
  });

  test("doctor finds the cluster well, as JSON too, down to a runtime that starts on a node", async () => {
    const { exitCode, stdout } = await tonyTs(["doctor", "--json"], alice);
    const { findings }: { findings: { subject: string; state: string }[] } = JSON.parse(stdout);
    // That its nodes limit virtual memory, as Hadoop's do by default.
    expect(findings.filter(({ state }) => state !== "well")).toMatchObject([{ subject: "memory", state: "remark" }]);
    expect(findings.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining([
        "configuration",
        "ResourceManager",
        "HDFS",
        "clock",
        "queue",
        "resources",
        "labels",
        "nodes",
      ]),
    );
    expect(exitCode).toBe(0);
  });

  test("doctor puts what jobs run into the cache that the site names, for all who share it", async () => {
    const conf = ["--conf", "tony.cache.dir=/user/alice/shared-cache"];
    expect((await tonyTs(["doctor", ...conf], alice)).exitCode).toBe(0);
    const { files }: CacheListJson = JSON.parse((await tonyTs(["cache", "list", "--json", ...conf], alice)).stdout);
    // Her own cache stands beside it.
    const shared = files.filter(({ path }) => path.startsWith("/user/alice/shared-cache/"));
    expect(shared.map(({ name }) => name).sort()).toEqual(["am.cjs", "executor.cjs", "node"]);
  });

  test("doctor exits 3 and says how to mend it when there is no such queue", async () => {
    const { exitCode, stdout } = await tonyTs(["doctor", "--queue", "nope", "--probe=false"], alice);
    expect(stdout).toMatch(/✗ queue +there is no queue nope\n +→ choose another with tony\.yarn\.queue: default, ml/);
    expect(exitCode).toBe(3);
  });

  test("the cache lists what was shipped, and keeps it", async () => {
    const submitted = await tonyTs(["submit", "--conf", join(folder, "job.xml")], alice);
    expect(submitted.exitCode).toBe(0);
    const { stdout } = await tonyTs(["cache", "list"], alice);
    expect(stdout).toMatch(/^node +[0-9a-f]{12} +alice/m);
    expect((await tonyTs(["cache", "prune"], alice)).stdout).toBe("Removed 0 files, 0 B\n");
  });
});
