import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { sha256Of } from "../../src/job/stored/job-keytab.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { elfHeader } from "../support/elf-header.ts";
import { eventually } from "../support/eventually.ts";
import { fileSystemsOf } from "../support/file-systems.ts";
import { HeldSubmission } from "../support/held-submission.ts";
import { HeldUpload } from "../support/held-upload.ts";
import { requestJson } from "../support/http-json.ts";
import { oneTask, Person } from "../support/person.ts";
import { leftovers, sweep } from "../support/sweep.ts";
import { testWhereOpen } from "../support/where-open.ts";

const cluster = await testCluster();

/** Why what passes by cannot be looked at. */
const privacy = "privacy hides which call is the submission";

const alice = new Person(cluster);
afterEach(() => sweep(cluster));
afterAll(() => alice.leave());

describe("a job that cannot run says why, and which key mends it", () => {
  const submit = (name: string, settings: Readonly<Record<string, string>>) =>
    alice.run("submit", "--conf", alice.job(name, { ...oneTask, ...settings }));

  /** A range of one port, which is taken on every address of this machine. */
  async function withPortTaken(use: (range: string) => Promise<void>): Promise<void> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    try {
      await use(`${address.port}-${address.port}`);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  }

  test("the ApplicationMaster's ports are taken", async () => {
    await withPortTaken(async (range) => {
      const { exitCode, stdout } = await submit("am-port", { "tony.am.port-range": range });
      expect(stdout).toMatch(
        /^Root cause {3}the ApplicationMaster cannot start: No port of \S+ is free on this machine: widen tony\.am\.port-range/m,
      );
      expect(stdout).not.toMatch(/Exception from container-launch/);
      expect(exitCode).toBe(1);
    });
  });

  test("the tasks' ports are taken", async () => {
    await withPortTaken(async (range) => {
      const { exitCode, stdout } = await submit("task-port", { "tony.task.port-range": range });
      expect(stdout).toMatch(/^Root cause {3}worker:0 .*Every port of \S+ is taken .*: widen tony\.task\.port-range/m);
      expect(stdout).not.toMatch(/Exception from container-launch/);
      expect(exitCode).toBe(1);
    });
  });

  test("the runtime is of another architecture: said before anything is sent", async () => {
    const other = process.arch === "arm64" ? "x64" : "arm64";
    const runtime = path.join(alice.folder, other);
    writeFileSync(runtime, elfHeader(other), { mode: 0o755 });
    const { exitCode, stdout, stderr } = await submit("architecture", { "tony.node.binary": runtime });
    expect(stderr).toMatch(
      new RegExp(
        `job\\.xml:\\d+: tony\\.node\\.binary: ${runtime} is built for ${other}, the nodes are ${process.arch}`,
      ),
    );
    expect(stdout).toBe("");
    expect(exitCode).toBe(2);
  });

  test("the runtime passes for a program here, but no node can load it", async () => {
    const runtime = path.join(alice.folder, "hollow-node");
    writeFileSync(runtime, elfHeader(process.arch), { mode: 0o755 });
    const { exitCode, stdout } = await submit("hollow", { "tony.node.binary": runtime });
    expect(stdout).toMatch(/^Root cause {3}am\.cjs could not be started by \.\/node on .* set tony\.node\.binary to/m);
    expect(stdout).toMatch(/^ {2}\| .*(cannot execute|Exec format)/m);
    expect(exitCode).toBe(1);
  });
});

describe("nodes have other bytes, as many, where one of our programs was fetched to", () => {
  test.each([
    ["executor.cjs", /^Root cause {3}worker:0 lost its executor .*: executor\.cjs on \S+ is not the file/m],
    ["am.cjs", /^Root cause {3}am\.cjs on \S+ is not the file/m],
  ])("%s is not run, the nodes are at fault, and removing the file is enough", async (link, rootCause) => {
    // Of its own, so that no other job has the nodes' copies.
    const cache = `/user/alice/changed-${link}-cache`;
    const job = alice.job(`changed-${link}`, {
      ...oneTask,
      "tony.worker.command": "echo it runs",
      "tony.cache.dir": cache,
      "tony.node.binary": `local:${process.execPath}`,
    });
    const run = () => alice.run("submit", "--conf", job, "--logs", "worker:0");
    const before = new Set(copies(link));
    const fileSystems = fileSystemsOf(cluster, ClusterUser.alice);
    try {
      expect((await run()).exitCode).toBe(0);
      const own = copies(link).filter((file) => !before.has(file));
      const [good = "", changed = ""] = own.slice(0, 1).flatMap(changeLastByte);
      for (const file of own.slice(1)) changeLastByte(file);
      const refused = await run();
      expect(refused.stdout).toMatch(rootCause);
      expect(refused.stdout).toContain(`/${link} has SHA-256 ${changed}, expected ${good}`);
      expect(refused.stdout).toContain(`${cache}/sha256/${good}/${link} and submit again`);
      expect(refused.stdout).not.toContain("worker:0 | it runs");
      expect(refused.exitCode).toBe(1);
      for (const file of own) rmSync(file);
      const again = await run();
      expect(again.stdout).toContain("worker:0 | it runs");
      expect(again.exitCode).toBe(0);
    } finally {
      const { fileSystem, path: folder } = fileSystems.locate(cache);
      await fileSystem.delete(folder, { recursive: true });
      fileSystems.close();
    }
  });

  /** Where nodes have fetched it to, for everybody or for one user. */
  function copies(link: string): string[] {
    const caches = cluster.nodes.flatMap(({ folder }) => {
      const users = path.join(folder, "local", "usercache");
      return [path.join(folder, "local"), ...entriesOf(users)].map((owner) => path.join(owner, "filecache"));
    });
    return caches
      .flatMap(entriesOf)
      .map((entry) => path.join(entry, link))
      .filter((file) => existsSync(file));
  }

  const entriesOf = (folder: string) =>
    existsSync(folder) ? readdirSync(folder).map((name) => path.join(folder, name)) : [];

  /** @returns its hash before and after */
  function changeLastByte(file: string): [string, string] {
    const before = readFileSync(file);
    const after = Buffer.concat([before.subarray(0, -1), Buffer.from("~")]);
    chmodSync(file, 0o700);
    writeFileSync(file, after);
    return [sha256Of(before), sha256Of(after)];
  }
});

describe("a client that goes away before its job runs", () => {
  test("by Ctrl-C while all nodes are busy: the reason was told, the job is gone", async () => {
    const large = { ...oneTask, "tony.worker.memory": "6g", "tony.worker.command": "sleep 600" };
    const hog = alice.job("hog", { ...large, "tony.worker.instances": 2 });
    const id = (await alice.run("submit", "--detach", "--conf", hog)).stdout.trim();
    await eventually("the large job", async () =>
      (await alice.run("status", id, "--json")).stdout.includes('"state": "running"'),
    );
    const waiting = alice.start("submit", "--conf", alice.job("waiting", large));
    await waiting.output(/(ACCEPTED \d+ s: |waiting \d+ s for ).*/);
    waiting.process.kill("SIGINT");
    const { exitCode, stdout } = await waiting.ended;
    expect(stdout).toMatch(/Ended: all containers are returned; its staging folder is removed/);
    expect(exitCode).toBe(4);
    expect((await alice.run("kill", id)).exitCode).toBe(0);
  });

  test("by Ctrl-C during the upload: nothing was submitted, nothing of it stays", async () => {
    const cache = "/user/alice/cut-off-cache";
    const way = new HeldUpload(cluster);
    const job = alice.job("upload", { ...oneTask, "tony.cache.dir": cache });
    const submitting = alice.start("submit", "--json", "--conf", job, "--conf", await way.open());
    await way.held;
    submitting.process.kill("SIGINT");
    const { exitCode, stdout, stderr } = await submitting.ended;
    await way.close();
    const message = "Nothing was submitted, and nothing is left on the cluster";
    expect(stderr).toContain(message);
    expect(JSON.parse(stdout)).toEqual({
      jsonVersion: 1,
      event: "end",
      outcome: null,
      error: { code: "NOT_SUBMITTED", message, retryable: false },
      exitCode: 4,
    });
    expect(exitCode).toBe(4);
    expect(await alice.json("cache", "list", "--conf", `tony.cache.dir=${cache}`)).not.toMatchObject({
      files: expect.arrayContaining([expect.objectContaining({ partial: true })]),
    });
    const url = `${cluster.endpoints.webHdfs}${cache}?op=DELETE&recursive=true`;
    await requestJson(url, { cluster, as: ClusterUser.alice, method: "DELETE" });
  });

  testWhereOpen(cluster, privacy)(
    "by a kill between staging and submission: its folder alone stays, and the next submission removes that",
    async () => {
      const way = new HeldSubmission(cluster.endpoints.resourceManagerRpc);
      const job = alice.job("held", oneTask);
      const submitting = alice.start(
        "submit",
        "--conf",
        job,
        "-conf",
        `yarn.resourcemanager.address=${await way.open()}`,
      );
      const [id = ""] = await submitting.output(/^application_\S+/);
      await way.held;
      submitting.process.kill("SIGKILL");
      await submitting.ended;
      await way.close();
      expect(await leftovers(cluster)).toEqual([expect.stringMatching(new RegExp(`^staging folder .*/${id}$`))]);
      expect((await alice.run("submit", "--conf", job)).exitCode).toBe(0);
      expect(await leftovers(cluster)).not.toContainEqual(expect.stringContaining(id));
    },
  );
});
