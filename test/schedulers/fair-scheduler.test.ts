import { afterAll, afterEach, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const alice = new Person(cluster);
afterAll(() => alice.leave());
afterEach(() => sweep(cluster));

test("a job that names no queue runs in the one that is made for it, and doctor says how queues come about", async () => {
  const { exitCode, stdout } = await alice.run("submit", "--conf", alice.job("fair", oneTask));
  expect(stdout).toMatch(/SUCCEEDED +1 of 1 task exited 0/);
  expect(exitCode).toBe(0);

  const doctor = await alice.run("doctor", "--probe=false");
  expect(doctor.stdout).toMatch(/! queue +there is no queue default yet: FairScheduler makes queues/);
  expect(doctor.exitCode).toBe(0);
});

test("a queue that the scheduler refuses is its refusal, told as such", async () => {
  const job = alice.job("refused", { ...oneTask, "tony.yarn.queue": "root" });
  const { exitCode, stderr } = await alice.run("submit", "--conf", job);
  expect(stderr).toMatch(/The ResourceManager refuses the job: root is not a leaf queue/);
  expect(exitCode).toBe(3);
});

test("logs in indexed files are found and read as those in TFiles are, and doctor names the format", async () => {
  const job = alice.job("indexed-logs", { ...oneTask, "tony.worker.command": "echo out; echo err >&2" });
  const { stdout } = await alice.run("submit", "--conf", job, "--logs", "none");
  const [id = ""] = stdout.match(/application_\d+_\d+/) ?? [];

  expect(await alice.run("logs", id)).toMatchObject({ exitCode: 0, stdout: "out\nerr\n" });
  expect((await alice.run("logs", id, "am")).stdout).toMatch(/The ApplicationMaster \S+ starts: attempt 1 /);
  expect((await alice.run("doctor", "--probe=false")).stdout).toMatch(
    /✓ logs +kept in \/tmp\/logs\/alice as IFile \(indexed files\), TFile/,
  );
});
