import { expect, test } from "@jest/globals";
import { Launcher } from "../../../am/executors/launcher.ts";
import type { ShippedFile } from "../../../src/job/stored/job-file.ts";
import { aJobFile } from "../../support/job-file.ts";
import { aJobSpec, aRole } from "../../support/job-spec.ts";

test("the container of every task says who may see the job and who may end it, and what other systems' clients find", () => {
  const launcher = new Launcher({
    job: aJobFile({
      spec: aJobSpec({ roles: [aRole("worker", 1)], viewAcl: "ada,bob ml", modifyAcl: "ada" }),
    }),
    attempt: 1,
    masterAddress: "n0:1",
    credentialsOf: () => new Uint8Array(0),
    memoryMiBOf: () => undefined,
    outletVariables: { MLFLOW_RUN_ID: "r$1" },
    memoryEnforced: false,
  });
  const { acls, environment } = launcher.command({ containerId: "c1", task: "worker:0", generation: 1 });
  expect(acls).toEqual({ viewers: "ada,bob ml", modifiers: "ada" });
  // The shell of YARN's launch script would expand it.
  expect(environment).toMatchObject({ MLFLOW_RUN_ID: "r\\$1", TONY_APPLICATION_ID: "application_1_0001" });
  // Only in a container that has had another task before its logs have names of their own.
  const inHandedOver = launcher.variables({ containerId: "c1", task: "worker:0", generation: 1 });
  expect([inHandedOver.TONY_LOG_PREFIX, environment.TONY_LOG_PREFIX]).toEqual(["worker-0.", undefined]);
});

test("a task's container gets the files, the image and the environment of its role, and its own credentials", () => {
  const resource = { memoryMiB: 2_048, vcores: 1, others: {} };
  const image = { YARN_CONTAINER_RUNTIME_TYPE: "docker", YARN_CONTAINER_RUNTIME_DOCKER_IMAGE: "ml/base:1" };
  const roles = [aRole("worker", 2, { resource, image, reusePort: true, ports: ["http"] }), aRole("ps", 1)];
  const file = (link: string): ShippedFile => {
    return { link, url: `hdfs://nn/${link}`, sizeBytes: 1, modificationTimeMs: 1, type: "FILE", visibility: "PRIVATE" };
  };
  const byRole = { worker: [file("of-workers")], ps: [file("of-ps")] };
  const launcher = new Launcher({
    job: aJobFile({
      spec: aJobSpec({ roles, tensorBoardTask: "worker:1", containerEnvironment: { A: "1" } }),
      files: { master: [file("am.cjs")], all: [file("executor.cjs")], byRole },
    }),
    attempt: 3,
    masterAddress: "n0:1",
    credentialsOf: (containerId) => Buffer.from(`of ${containerId}`),
    memoryMiBOf: (containerId) => (containerId === "c1" ? 3_072 : undefined),
    outletVariables: {},
    memoryEnforced: true,
  });
  const worker = launcher.command({ containerId: "c1", task: "worker:1", generation: 7 });
  expect(worker).toMatchObject({
    containerId: "c1",
    files: [{ link: "executor.cjs" }, { link: "of-workers" }],
    credentials: Buffer.from("of c1"),
    commands: [expect.stringContaining("executor.cjs")],
    environment: { ...image, A: "1" },
  });
  const ps = launcher.command({ containerId: "c2", task: "ps:0", generation: 7 });
  expect(ps.files.map(({ link }) => link)).toEqual(["executor.cjs", "of-ps"]);
  expect(ps.environment).not.toHaveProperty("YARN_CONTAINER_RUNTIME_TYPE");
  const differing = Object.entries(worker.environment).filter(([name, value]) => ps.environment[name] !== value);
  expect(Object.fromEntries(differing)).toEqual({
    ...{ TONY_TASK: "worker:1", TONY_TENSORBOARD: "true", TONY_CONTAINER_MEMORY_MIB: "3072" },
    ...{ TONY_PORT_NAMES: "http", TONY_REUSE_PORT: "true" },
    ...image,
  });
  expect(() => launcher.command({ containerId: "c3", task: "other:0", generation: 7 })).toThrow(
    "the job has no role of task other:0",
  );
});
