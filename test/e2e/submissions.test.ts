import { randomBytes } from "node:crypto";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { ContentCache } from "../../client/shipping/cache.ts";
import { type CachedFile, listCache } from "../../client/shipping/cache-prune.ts";
import { stagingRoot } from "../../client/staging/staging-folder.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { fileSystemsOf } from "../support/file-systems.ts";
import { HeldUpload } from "../support/held-upload.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

describe("a submission", () => {
  const alice = new Person(cluster);
  const homeless = new Person(cluster, ClusterUser.homeless);
  const fileSystems = fileSystemsOf(cluster, ClusterUser.alice);
  afterEach(() => sweep(cluster));
  afterAll(async () => {
    fileSystems.close();
    await alice.leave();
    await homeless.leave();
  });

  async function cachedFiles(): Promise<CachedFile[]> {
    const root = await stagingRoot(fileSystems, {});
    return await listCache(new ContentCache({ fileSystems, stagingRoot: root, user: ClusterUser.alice }));
  }

  test("uploads what the cluster does not have yet, and nothing the second time", async () => {
    const settings = { ...oneTask, "tony.containers.resources": "data" };
    const job = alice.job("uploads", settings, { data: randomBytes(3000) });
    const first = await alice.run("submit", "--conf", job);
    expect(first.stdout).toMatch(/^ {2}upload .*data 2\.9 KiB/m);
    const second = await alice.run("submit", "--conf", job);
    expect(second.stdout).toMatch(/^ {2}upload {2}nothing: [\d.]+ MiB are cached$/m);
    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
  });

  test("places the files of a folder on HDFS, and what -hdfs_classpath names and is there", async () => {
    const folder = `/user/${ClusterUser.alice}/libs`;
    const put = async (name: string) =>
      await fileSystems.locate("/").fileSystem.create(name, Buffer.from(`${name}\n`), { permission: 0o600 });
    for (const name of [`${folder}/a.txt`, `${folder}/sub/c.txt`, `${folder}-b.txt`]) await put(name);
    const command = "cat a.txt libs-b.txt && test ! -e c.txt";
    const settings = { ...oneTask, "tony.worker.command": command, "tony.worker.resources": `hdfs://${folder}` };
    const job = alice.job("libs", settings);
    const ran = await alice.run("submit", "--conf", job, "-hdfs_classpath", `${folder}-b.txt,${folder}-none`);
    expect(ran.stderr).toContain(`${folder}-none, which does not exist: it is left out`);
    expect(ran.stdout).toContain(`worker:0 | ${folder}/a.txt\nworker:0 | ${folder}-b.txt\n`);
    expect(ran.exitCode).toBe(0);
  });

  test("tells of a port for ApplicationMasters that refuses connections, and is taken all the same", async () => {
    const job = alice.job("refused", oneTask);
    const scheduler = `yarn.resourcemanager.scheduler.address=${cluster.addresses.master}:1`;
    const { exitCode, stdout, stderr } = await alice.run("submit", "--detach", "--conf", job, "--conf", scheduler);
    expect(stderr).toMatch(
      /^warning: ApplicationMasters look for .*:1, where connections from this machine are refused/m,
    );
    expect(exitCode).toBe(0);
    expect((await alice.run("kill", stdout.trim())).exitCode).toBe(0);
  });

  test("that is killed while it uploads leaves no application; the next one removes what was sent, and works", async () => {
    const settings = { ...oneTask, "tony.containers.resources": "large" };
    const job = alice.job("cut-off", settings, { large: randomBytes(8 << 20) });
    const way = new HeldUpload(cluster);
    const held = await way.open();
    const submitting = alice.start("submit", "--conf", job, "-conf", held);
    await way.held;
    submitting.process.kill("SIGKILL");
    await submitting.ended;
    await way.close();
    await sweep(cluster);
    expect(await cachedFiles()).toContainEqual(expect.objectContaining({ name: "large", partial: true }));

    const again = await alice.run("submit", "--conf", job);
    expect(again.stdout).toContain("SUCCEEDED");
    expect(again.exitCode).toBe(0);
    expect((await cachedFiles()).filter((file) => file.partial)).toEqual([]);
  });

  test("whose file is edited while it is uploaded, at the same length: the cache has nothing under a hash that is not its own", async () => {
    const settings = { ...oneTask, "tony.containers.resources": "edited" };
    const first = randomBytes(64 << 20);
    const job = alice.job("edited", settings, { edited: first });
    const way = new HeldUpload(cluster);
    const submitting = alice.start("submit", "--conf", job, "-conf", await way.open());
    await way.held;
    const edited = openSync(path.join(path.dirname(job), "edited"), "r+");
    writeSync(edited, randomBytes(first.length));
    closeSync(edited);
    way.release();
    expect(await submitting.ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("edited changed") });
    await way.close();
    await sweep(cluster);
    expect((await cachedFiles()).filter(({ name }) => name === "edited")).toEqual([]);
  });

  test("whose terminal is closed runs on", async () => {
    const done = path.join(alice.shared("flag"), "done");
    const job = alice.job("closed", {
      ...oneTask,
      "tony.worker.command": `echo up; until test -e ${done}; do sleep 0.2; done`,
    });
    const submitting = alice.start("submit", "--conf", job);
    const [, id = ""] = await submitting.output(/^(application_\d+_\d+) [\s\S]*^worker:0 \| up$/m);
    submitting.process.kill("SIGHUP");
    const { exitCode, stderr } = await submitting.ended;
    expect(stderr).toContain(`${id} still runs; see tony-ts status ${id}`);
    expect(exitCode).toBe(5);
    expect(await alice.json("status", id)).toMatchObject({ status: { state: "running" } });
    expect((await alice.run("kill", id)).exitCode).toBe(0);
  });

  test("with a tag that others with it were made at the same moment runs once, and all of them follow that job", async () => {
    const ran = path.join(alice.shared("tag"), "ran");
    const command = `echo "$CONTAINER_ID" >> ${ran}; sleep 3; exit 7`;
    const job = alice.job("tagged", { ...oneTask, "tony.worker.command": command });
    const tag = `together-${process.pid}`;
    const all = Array.from({ length: 4 }, () => alice.start("submit", "--json", "--application-tag", tag, job));
    const ended = await Promise.all(all.map((one) => one.ended));
    const jobs = ended.map(({ stdout }) => JSON.parse(stdout.split("\n", 1)[0] ?? ""));
    expect(new Set(jobs.map(({ applicationId }) => applicationId)).size).toBe(1);
    expect(jobs.map(({ submitted }) => submitted).sort()).toEqual([false, false, false, true]);
    expect(ended.map(({ exitCode }) => exitCode)).toEqual([1, 1, 1, 1]);
    expect(readFileSync(ran, "utf8").trim().split("\n")).toHaveLength(1);
  });

  test("of a command that does not exist fails with the command's own words", async () => {
    const { exitCode, stdout } = await alice.run(
      ...["submit", "--conf", alice.job("wrong", { ...oneTask, "tony.worker.command": "pyhton train.py" })],
    );
    expect(stdout).toMatch(
      /^Root cause {3}worker:0 could not start its program on .*exit 127\)\n +→ that node's PATH has no pyhton: check its name in tony\.worker\.command \(\S+job\.xml:\d+\)/m,
    );
    expect(stdout).toMatch(/^ {2}\| .*pyhton: command not found$/m);
    expect(exitCode).toBe(1);
  });

  test("by a user without a home works once tony.staging-dir names a folder of his", async () => {
    const folder = `/tmp/${ClusterUser.homeless}-${process.pid}`;
    const job = homeless.job("staging", { ...oneTask, "tony.staging-dir": folder });
    const { exitCode, stdout, stderr } = await homeless.run("submit", "--conf", job);
    expect(`${stdout}${stderr}`).toContain("SUCCEEDED");
    expect(exitCode).toBe(0);
    const mine = fileSystemsOf(cluster, ClusterUser.homeless);
    const { fileSystem } = mine.locate(folder);
    const left = await fileSystem.list(folder);
    expect(left.map((entry) => path.basename(entry.path))).not.toContainEqual(expect.stringMatching(/^application_/));
    await fileSystem.delete(folder, { recursive: true });
    mine.close();
  });
});
