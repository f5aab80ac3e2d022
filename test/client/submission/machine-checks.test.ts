import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { variablesOf } from "../../../client/context.ts";
import { checkOffline } from "../../../client/submission/check-offline.ts";
import { checkAgainstMachine, checkOnMachine } from "../../../client/submission/machine-checks.ts";
import { readJob } from "../../../src/job/build/load-job.ts";
import type { SubmissionOptions } from "../../../src/job/build/submission.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";
import { recordedContext } from "../support.ts";

const machine = { memoryMiB: 8192, vcores: 2, gpus: ["0", "1"] };
const sources = { "tony.worker.gpus": "job.xml:8", "tony.worker.instances": "job.xml:4" };
const workers = (instances: number, resource: Partial<JobSpec["am"]["resource"]>) =>
  aRole("worker", instances, { resource: { memoryMiB: 1024, vcores: 1, others: {}, ...resource } });
const said = (changes: Partial<JobSpec>) =>
  checkAgainstMachine(aJobSpec({ sources, ...changes }), machine).map(formatProblem);

test("a container that this machine could never hold is refused, with what it has", () => {
  expect(said({ roles: [workers(1, { others: { "yarn.io/gpu": 4 } })] })).toEqual([
    "job.xml:8: a worker asks for 4 GPUs, this machine has 2 GPUs: lower tony.worker.gpus",
  ]);
  expect(said({ roles: [workers(1, { memoryMiB: 16_384, vcores: 3 })] })).toEqual([
    "a worker asks for 16 GiB of memory, this machine has 8 GiB of memory: lower tony.worker.memory",
    "a worker asks for 3 cores, this machine has 2 cores: lower tony.worker.vcores",
  ]);
});

test("a gang that could never be complete is refused; cores are shared, and tasks that need no gang come one after another", () => {
  const roles = [aRole("ps", 1), workers(3, { vcores: 2, others: { "yarn.io/gpu": 1 } })];
  expect(said({ roles })).toEqual([
    "job.xml:4: the tasks ask for 3 GPUs together, this machine has 2 GPUs: lower tony.worker.instances or tony.worker.gpus",
  ]);
  expect(said({ roles: [workers(9, { vcores: 1 })] })).toEqual([
    "job.xml:4: the tasks ask for 9 GiB of memory together, this machine has 8 GiB of memory: lower tony.worker.instances or tony.worker.memory",
  ]);
  expect(said({ roles: [aRole("ps", 4), workers(2, { memoryMiB: 4096 })] })[0]).toMatch(
    /: lower tony\.worker\.instances /,
  );
  expect(said({ roles, distributedMode: "fcfs" })).toEqual([]);
  expect(said({ roles: [workers(2, { vcores: 2, others: { "yarn.io/gpu": 1 } })] })).toEqual([]);
});

test("containers in images are refused: programs would run outside of them", () => {
  const image = { YARN_CONTAINER_RUNTIME_TYPE: "docker", YARN_CONTAINER_RUNTIME_DOCKER_IMAGE: "train" };
  const refused = ["tony.docker.enabled needs YARN: this machine runs programs outside of images"];
  expect(said({ roles: [{ ...workers(1, {}), image }] })).toEqual(refused);
  expect(said({ roles: [aRole("ps", 1), { ...workers(1, {}), image }] })).toEqual(refused);
  expect(said({ am: { ...aJobSpec().am, image } })).toEqual(refused);
});

describe("a job is checked on this machine", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "machine-checks-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function check(settings: Readonly<Record<string, string>>, options: Omit<SubmissionOptions, "conf"> = {}) {
    const environment = { PATH: process.env.PATH ?? "", HADOOP_USER_NAME: "ada", CUDA_VISIBLE_DEVICES: "0" };
    const context = recordedContext({ environment, workingDirectory: folder });
    const all = {
      "tony.application.framework": "generic",
      "tony.worker.instances": "1",
      "tony.worker.memory": "64m",
      "tony.worker.command": "true",
      ...settings,
    };
    const conf = Object.entries(all).map(([key, value]) => `${key}=${value}`);
    const text = readJob({ ...options, conf }, { variables: variablesOf(context) });
    return checkOnMachine(text, checkOffline(text, { kind: "none" }, context).spec, environment);
  }

  test("by its own variables before the client's: what it may use of the GPUs is its business", async () => {
    const containerEnv = ["CUDA_VISIBLE_DEVICES=0,1"];
    expect(await check({ "tony.worker.gpus": "2" }, { containerEnv })).toMatchObject({ user: "ada" });
    await expect(check({ "tony.worker.gpus": "2" })).rejects.toMatchObject({
      code: "CLUSTER_REFUSES",
      message: expect.stringContaining("a worker asks for 2 GPUs, this machine has 1 GPU"),
    });
  });

  test("with relative folders in the home of whoever runs it, on the file system that its settings name", async () => {
    const mounted = { "fs.defaultFS": "viewfs://v", "fs.viewfs.mounttable.v.linkFallback": `file://${folder}` };
    const carried = { "tony.checkpoint.local-dir": "c", "tony.application.checkpoint-dir": "ckpt" };
    const { spec } = await check({ ...mounted, ...carried });
    expect(spec.checkpointDir).toBe(`file://${folder}/user/ada/ckpt`);
  });

  test("with the files of its feeds, which have to be there", async () => {
    writeFileSync(path.join(folder, "rows.txt"), "a\nb\n");
    const feed = (input: string) => ({ "tony.feed.train.input": input, "tony.feed.train.format": "lines" });
    const { feeds } = await check(feed(`file://${folder}/rows.txt`));
    expect([...(feeds.train ?? [])].map(({ length }) => length)).toEqual([4]);
    await expect(check(feed(`file://${folder}/none.txt`))).rejects.toMatchObject({
      code: "CLUSTER_REFUSES",
      message: expect.stringContaining("which does not exist"),
    });
  });

  test("for the checkpoint that it begins with: a part of one is none", async () => {
    await expect(check({ "tony.application.resume-from": "/ckpt/_unfinished-step-1" })).rejects.toMatchObject({
      code: "NO_CHECKPOINT",
    });
  });
});
