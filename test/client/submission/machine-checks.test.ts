import { expect, test } from "@jest/globals";
import { checkAgainstMachine } from "../../../client/submission/machine-checks.ts";
import { formatProblem } from "../../../src/job/problem.ts";
import type { JobSpec } from "../../../src/job/spec.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";

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
  expect(said({ am: { ...aJobSpec().am, image } })).toEqual(refused);
});
