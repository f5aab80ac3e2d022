import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { javaSource } from "../support/peers.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const alice = new Person(cluster);
afterAll(async () => {
  await sweep(cluster);
  await alice.leave();
});

/** What Hadoop's own runtimes of NodeManagers read out of a container's environment. */
async function readByRuntime(environment: readonly string[]): Promise<string[]> {
  const java = path.join(cluster.javaHome, "bin", "java");
  const options = ["-XX:TieredStopAtLevel=1", "-cp", path.join(cluster.jars, "*")];
  const { stdout } = await promisify(execFile)(java, [
    ...options,
    javaSource("runtime/ReadImage.java"),
    ...environment,
  ]);
  return stdout.split("\n").filter((line) => /^(requested|image|mounts|unknown) /.test(line));
}

describe("containers in images", () => {
  // DefaultContainerExecutor runs them outside, with the environment that a runtime of Docker's would read.
  test.each(["docker", "runc"])("get from their NodeManager what its runtime %s reads", async (runtime) => {
    const job = alice.job(runtime, {
      "tony.docker.enabled": "true",
      "tony.docker.runtime": runtime,
      "tony.docker.containers.image": "ml/base:1",
      "tony.docker.worker.image": "registry:5000/ml/train:1.4",
      "tony.docker.containers.mount": "/data:/data:ro,/scratch:/work:rw",
      "tony.docker.containers.privileged": "true",
      ...(runtime === "docker" && {
        "tony.docker.containers.network": "host",
        "tony.docker.containers.delayed-removal": "true",
      }),
      // The script by which the NodeManager has started the ApplicationMaster, whose container is the task's too.
      "tony.am.command": `sed -nE 's/^export (YARN_CONTAINER_RUNTIME_.*)="(.*)"$/\\1=\\2/p' "\${PWD%%/tony-tasks*}/launch_container.sh"`,
      "tony.application.enable-preprocess": "true",
      "tony.worker.instances": 1,
      "tony.worker.memory": "512m",
      "tony.worker.command": "env | grep ^YARN_CONTAINER_RUNTIME_",
    });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "--logs", "all");
    expect(exitCode).toBe(0);
    const toldOf = (task: string) =>
      stdout.split("\n").flatMap((line) => (line.startsWith(`${task} | YARN_`) ? [line.slice(task.length + 3)] : []));
    const readOf = (image: string) => [
      `requested ${runtime}`,
      `image ${image}`,
      "mounts [/data at /data ro, /scratch at /work rw]",
      "unknown []",
    ];
    expect(await readByRuntime(toldOf("worker:0"))).toEqual(readOf("registry:5000/ml/train:1.4"));
    expect(await readByRuntime(toldOf("driver:0"))).toEqual(readOf("ml/base:1"));
  });
});
