import { afterAll, afterEach, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
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

test("GPUs that the site calls nvidia.com/gpu are asked for, ranked and shown as any; doctor and the refusal name the key", async () => {
  const job = alice.job("other-gpus", {
    "tony.application.framework": "pytorch",
    "tony.worker.instances": 2,
    "tony.worker.memory": "512m",
    "tony.worker.gpus": 1,
    "tony.worker.command": "echo rank $RANK of $WORLD_SIZE, local $LOCAL_RANK; sleep 600",
  });
  const mend = "set tony.gpu-resource-types to nvidia.com/gpu";
  expect((await alice.run("doctor", "--probe=false")).stdout).toContain(mend);
  expect(await alice.run("submit", "--conf", job)).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining(mend),
  });

  const site = "tony.gpu-resource-types=nvidia.com/gpu";
  const submitted = await alice.run("submit", "--conf", job, "--conf", site, "--detach");
  const id = submitted.stdout.trim();
  const ranks = async () => (await alice.run("logs", id, "worker:1")).stdout || undefined;
  expect(await eventually("the second worker's line", ranks)).toBe("rank 1 of 2, local 0\n");
  expect((await alice.run("nodes")).stdout).toMatch(/GPUs free[\s\S]* 0 of 2 /);
  expect((await alice.run("list")).stdout).toMatch(/GPUs\n[^\n]* 2\n/);
  expect(await alice.run("kill", id)).toMatchObject({ exitCode: 0 });
});

test("a gang that its queue can never hold (maxResources) holds nothing, and the numbers are said", async () => {
  const job = alice.job("too-wide", {
    ...oneTask,
    "tony.worker.instances": 4,
    "tony.worker.memory": "512m",
    "tony.yarn.queue": "narrow.inside",
  });
  const id = (await alice.run("submit", "--conf", job, "--detach")).stdout.trim();
  const told = async () => {
    const { stdout } = await alice.run("status", id);
    return stdout.includes("waiting will not help") ? stdout : undefined;
  };
  const status = await eventually("that waiting will not help", told);
  expect(status).toContain(
    "waiting will not help unless the queue may have more: queue narrow.inside may have at most 2 cores of the cluster, the job asks for 5 cores, including 1 core for its AM",
  );
  expect(status).toMatch(/the job holds no container but its AM's/);
  expect(await alice.run("kill", id)).toMatchObject({ exitCode: 0 });
});
