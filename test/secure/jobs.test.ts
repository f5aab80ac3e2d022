import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { packageRoot } from "../../src/programs.ts";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { Person } from "../support/person.ts";
import { pythonWith } from "../support/provide.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

describe("a job of alice's", () => {
  const suite = new FaultSuite(cluster);
  const bob = new Person(cluster, ClusterUser.bob);
  afterAll(() => bob.leave());

  test("runs, and she alone follows, reads and ends it", async () => {
    const job = await suite.submit({
      program: "echo what alice works on; until test -e $OUTPUT/go; do sleep 0.1; done",
    });
    await job.running(1);
    await job.status("both programs", ({ tasks }) => tasks.every(({ state }) => state === "running"));
    expect(await bob.run("kill", job.id)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("bob may not end this job: it is alice's"),
    });
    const seen = await bob.run("status", job.id);
    expect(seen.stdout).not.toContain("worker:0");
    expect(await bob.run("logs", job.id)).toMatchObject({ exitCode: 3, stdout: "" });
    const ended = await job.end();
    expect(ended.stdout).toContain("2 of 2 tasks exited 0 · 0 restarts");
    expect(ended.exitCode).toBe(0);
    expect(await job.command("logs", "worker:0")).toMatchObject({ exitCode: 0, stdout: "what alice works on\n" });
    const stored = await bob.run("logs", job.id);
    expect(stored).toMatchObject({
      exitCode: 3,
      stdout: "",
      stderr: expect.stringContaining("HDFS lets only alice read the stored logs of"),
    });
  });

  test("ends when she says so, with nothing left", async () => {
    const job = await suite.submit({ workers: 1 });
    await job.running(1, 1);
    expect((await job.command("kill")).exitCode).toBe(0);
    expect((await job.client.ended).exitCode).toBe(4);
  });
});

test("doctor finds nothing wrong, and a node that runs what it is sent", async () => {
  const alice = new Person(cluster);
  try {
    const { exitCode, stdout } = await alice.run("doctor");
    expect(stdout).toMatch(/✓ Kerberos +the ticket of alice@TONY.TEST is valid/);
    expect(stdout).toMatch(/✓ nodes +the runtime starts in a container/);
    expect(stdout).not.toContain("✗");
    expect(exitCode).toBe(0);
  } finally {
    await alice.leave();
  }
});

describe("a folder that is encrypted", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("holds everything of a PyTorch job: its files, its checkpoints, its results", async () => {
    const python = await pythonWith("torch");
    const example = path.join(packageRoot(), "examples", "pytorch-digits", "job.xml");
    const folders = {
      "tony.staging-dir": "/encrypted/staging",
      "tony.application.checkpoint-dir": "hdfs:///encrypted/checkpoints",
      "tony.output.dir": "hdfs:///encrypted/results",
    };
    const settings = Object.entries(folders).flatMap(([key, value]) => ["-conf", `${key}=${value}`]);
    const words = ["submit", "--conf", example, ...settings, "--shell_env", `PYTHON=${python}`, "--logs", "all"];
    const { exitCode, stdout } = await alice.run(...words);
    expect(stdout).toContain("2 of 2 tasks exited 0 · 0 restarts");
    expect(stdout).toMatch(/checkpoint step \d+/);
    expect(stdout).toMatch(/output hdfs:\/\/\S+\/encrypted\/results\//);
    expect(exitCode).toBe(0);
  });
});
