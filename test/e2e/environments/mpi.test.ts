import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../../support/cluster.ts";
import { exampleJob } from "../../support/examples.ts";
import { Person } from "../../support/person.ts";
import { pythonEnvironment } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();

describe("the example of Open MPI", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("mpirun starts the processes in the containers of two hosts, without sshd", async () => {
    const bin = path.dirname(await pythonEnvironment("mpi"));
    const words = ["submit", "--conf", exampleJob("mpi"), "--shell_env", `PATH=${bin}:/usr/bin:/bin`, "--logs", "all"];
    const { exitCode, stdout } = await alice.run(...words);
    const places = Array.from(stdout.matchAll(/ rank (\d) of 4 in (container_\w+)$/gm), ([, rank, container]) => [
      rank,
      container,
    ]);
    const [first, second, third, fourth] = places.sort().map(([, container]) => container);
    expect(places.map(([rank]) => rank)).toEqual(["0", "1", "2", "3"]);
    expect([second, fourth]).toEqual([first, third]);
    expect(first).not.toBe(third);
    expect(stdout).toMatch(/ pi = 3\.141593$/m);
    expect(exitCode).toBe(0);
  }, 600_000);

  test("containers of one machine do not take each other's shared memory", async () => {
    const bin = path.dirname(await pythonEnvironment("mpi"));
    const program = `from mpi4py import MPI; import os
segments = {line.split()[5] for line in open("/proc/self/maps") if "sm_segment" in line}
print("segments", os.environ["TASK_INDEX"], *segments, flush=True)`;
    const command = `mpirun python3 -c '${program}'`;
    const settings = ["--conf", `tony.launcher.command=${command}`, "--shell_env", `PATH=${bin}:/usr/bin:/bin`];
    const { exitCode, stdout } = await alice.run("submit", "--conf", exampleJob("mpi"), ...settings, "--logs", "all");
    const files = Array.from(stdout.matchAll(/ segments (\d) (.+)$/gm), ([, task = "", words = ""]) =>
      words.split(" ").map((file) => ({ task, file })),
    ).flat();
    const tasksOf = (file: string) => new Set(files.filter((other) => other.file === file).map(({ task }) => task));
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const { file } of files) expect([file, tasksOf(file).size]).toEqual([file, 1]);
    expect(exitCode).toBe(0);
  }, 600_000);

  test("a process that dies fails the launcher, whose last lines name its rank", async () => {
    const bin = path.dirname(await pythonEnvironment("mpi"));
    const program = "from mpi4py import MPI; import os, time; MPI.COMM_WORLD.rank == 3 and os.abort(); time.sleep(600)";
    const command = `mpirun python3 -c '${program}'`;
    const settings = ["--conf", `tony.launcher.command=${command}`, "--shell_env", `PATH=${bin}:/usr/bin:/bin`];
    const { exitCode, stdout } = await alice.run("submit", "--conf", exampleJob("mpi"), ...settings);
    expect(stdout).toMatch(/^Root cause {3}launcher:0 exited 134 on \S+, as a shell does after SIGABRT/m);
    expect(stdout).toMatch(/process rank 3 with PID \d+ on node .* exited on/);
    expect(exitCode).toBe(1);
  }, 600_000);
});
