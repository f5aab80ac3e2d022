import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import type { Inspection } from "../../client/master/inspection.ts";
import { packageRoot } from "../../src/programs.ts";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { Person } from "../support/person.ts";
import { pythonEnvironment, pythonWith } from "../support/provide.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** The jobs under examples/, run as their readers run them. */
describe("the examples", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  const example = (name: string) => path.join(packageRoot(), "examples", name, "job.xml");
  const runWith = (python: string, name: string, ...more: readonly string[]) =>
    alice.run("submit", "--conf", example(name), "--shell_env", `PYTHON=${python}`, "--logs", "all", ...more);

  test("hello: every task says who it is", async () => {
    const { exitCode, stdout } = await alice.run("submit", "--conf", example("hello"), "--logs", "all");
    expect(stdout).toMatch(/^worker:0 \| hello from worker:0, one of 2, in \/.*\/container_\w+$/m);
    expect(stdout).toMatch(/^worker:1 \| hello from worker:1, one of 2, in \/.*\/container_\w+$/m);
    expect(stdout).toContain("SUCCEEDED");
    expect(stdout).toContain("2 of 2 tasks exited 0 · 0 restarts");
    expect(exitCode).toBe(0);
  });

  test("pytorch-digits: two workers train a model to more than 95 %", async () => {
    const python = await pythonWith("torch", "sklearn");
    const { exitCode, stdout } = await runWith(python, "pytorch-digits");

    expect(stdout).toMatch(/^worker:0 \| rank 0 of 2$/m);
    expect(stdout).toMatch(/^worker:1 \| rank 1 of 2$/m);
    const accuracies = Array.from(
      stdout.matchAll(/^worker:0 \| epoch \d\/5 .* test accuracy ([\d.]+) %/gm),
      ([, share]) => Number(share),
    );
    expect(accuracies).toHaveLength(5);
    expect(accuracies.at(-1)).toBeGreaterThan(95);
    expect(stdout).toContain("2 of 2 tasks exited 0 · 0 restarts");
    expect(exitCode).toBe(0);

    const [id = ""] = stdout.split(" ");
    const step = Number(Array.from(stdout.matchAll(/checkpoint step (\d+)/g)).at(-1)?.[1]);
    expect(await alice.json("status", id)).toMatchObject({
      status: { checkpoint: { step, path: expect.stringMatching(`^hdfs://.*/${id}/worker-0/step-${step}-at-`) } },
    });
    expect(stdout).toMatch(
      new RegExp(`^ +output hdfs://\\S+/tony-results/pytorch-digits/${id}/worker-0 \\(1 file, `, "m"),
    );
  });

  test("torchrun: each of two containers starts two processes, and all four train one model", async () => {
    const python = await pythonWith("torch");
    // Debian's torch 1.13 on Python 3.11 reads its own default for these as nothing at all.
    const tee = ["--shell_env", "PET_REDIRECTS=1", "--shell_env", "PET_TEE=1"];
    const words = ["submit", "--conf", example("torchrun"), "--shell_env", `PYTHON=${python}`, ...tee, "--logs", "all"];
    const { exitCode, stdout } = await alice.run(...words);

    // torchrun's two threads for the processes of a container may write into each other's lines.
    const ranks = Array.from(stdout.matchAll(/\brank (\d) of 4/g), ([, rank]) => Number(rank));
    expect(ranks.sort()).toEqual([0, 1, 2, 3]);
    expect(stdout).toMatch(/y = 3\.00 x \+ 2\.00/);
    expect(exitCode).toBe(0);
  });

  test("deepspeed: two processes share an optimizer's state, without DeepSpeed's launcher", async () => {
    const python = await pythonEnvironment("deepspeed");
    // What DeepSpeed compiles at its start on a machine without GPUs has been compiled once for all.
    const extensions = `TORCH_EXTENSIONS_DIR=${path.resolve(python, "../..")}-extensions`;
    const { exitCode, stdout } = await runWith(python, "deepspeed", "--shell_env", extensions);
    const ranks = Array.from(stdout.matchAll(/^worker:\d \| rank (\d) of 2$/gm), ([, rank]) => Number(rank));
    expect(ranks.sort()).toEqual([0, 1]);
    expect(stdout).toMatch(/^worker:0 \| y = 3\.00 x \+ 2\.00$/m);
    expect(exitCode).toBe(0);
  }, 600_000);

  test("horovod: two processes in each of two containers train one model", async () => {
    const { exitCode, stdout } = await runWith(await pythonEnvironment("horovod"), "horovod");
    const ranks = Array.from(stdout.matchAll(/^worker:\d \| rank (\d) of 4, /gm), ([, rank]) => Number(rank));
    expect(ranks.sort()).toEqual([0, 1, 2, 3]);
    expect(stdout).toMatch(/^worker:0 \| y = 3\.00 x \+ 2\.00$/m);
    expect(exitCode).toBe(0);
    const [id = ""] = stdout.split(" ");
    expect(await alice.json("status", id)).toMatchObject({ status: { checkpoint: { step: 200 } } });
  }, 600_000);

  test("horovod: when a process is killed, all start again from the checkpoint", async () => {
    const command = 'echo $$ >"pid-$HOROVOD_RANK"; exec "$PYTHON" train.py';
    const environment = { PYTHON: await pythonEnvironment("horovod"), STEPS: "150", SECONDS_PER_STEP: "0.1" };
    const settings = Object.entries(environment).flatMap(([name, value]) => ["--shell_env", `${name}=${value}`]);
    const words = ["--conf", example("horovod"), "--conf", `tony.worker.command=${command}`, ...settings];
    const submit = alice.start("submit", ...words, "--logs", "all");
    const [id] = await submit.output(/application_\d+_\d+/);
    await eventually("a checkpoint where it stays", async () => {
      const { status }: Inspection = JSON.parse((await alice.run("status", id, "--json")).stdout);
      return status?.checkpoint?.path.startsWith("hdfs://");
    });
    await alice.run("exec", id, "worker:1", "--", "sh", "-c", "kill -KILL $(cat pid-3)");
    const { exitCode, stdout } = await submit.ended;
    // Who lost a peer may be heard before it, and is then corrected.
    expect(stdout).toMatch(
      / (restarting \(generation 2\)|generation 1 had ended by): +worker:1 was ended by SIGKILL on /,
    );
    expect(stdout.match(/^worker:\d \| resumed from step \d+$/gm)).toHaveLength(4);
    expect(stdout).toMatch(/^worker:0 \| y = 3\.00 x \+ 2\.00$/m);
    expect(stdout).toContain("2 of 2 tasks exited 0 · 1 restart");
    expect(exitCode).toBe(0);
  }, 600_000);

  test("generic: three programs that know each other by their command alone connect each to each", async () => {
    const { exitCode, stdout } = await alice.run("submit", "--conf", example("generic"), "--logs", "all");
    for (const index of [0, 1, 2]) {
      expect(stdout).toContain(`worker:${index} | worker:${index} heard worker:0, worker:1, worker:2`);
    }
    expect(exitCode).toBe(0);
  });

  test("jax: two processes fit a line by gradients that they compute together", async () => {
    const { exitCode, stdout } = await runWith(await pythonEnvironment("frameworks"), "jax");
    expect(stdout).toMatch(/^worker:0 \| process 0 of 2, 2 devices in all$/m);
    expect(stdout).toMatch(/^worker:1 \| process 1 of 2, 2 devices in all$/m);
    expect(stdout).toMatch(/^worker:0 \| y = 3\.00 x \+ 2\.00$/m);
    expect(exitCode).toBe(0);
  }, 600_000);

  test("dask and ray: both workers of a cluster compute for a program, and are stopped at its end", async () => {
    const python = await pythonEnvironment("frameworks");
    for (const name of ["dask", "ray"]) {
      const { exitCode, stdout } = await runWith(python, name);
      expect(stdout).toMatch(/^(main|head):0 +\| sum of squares 328350, computed by 2 workers$/m);
      expect(stdout).toContain("1 of 1 tracked task exited 0");
      expect(exitCode).toBe(0);
    }
  }, 600_000);

  test("mpi: mpirun starts the processes in the containers of two hosts, without sshd", async () => {
    const bin = path.dirname(await pythonEnvironment("frameworks"));
    const words = ["submit", "--conf", example("mpi"), "--shell_env", `PATH=${bin}:/usr/bin:/bin`, "--logs", "all"];
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

  test("mpi: containers of one machine do not take each other's shared memory", async () => {
    const bin = path.dirname(await pythonEnvironment("frameworks"));
    const program = `from mpi4py import MPI; import os
segments = {line.split()[5] for line in open("/proc/self/maps") if "sm_segment" in line}
print("segments", os.environ["TASK_INDEX"], *segments, flush=True)`;
    const command = `mpirun python3 -c '${program}'`;
    const settings = ["--conf", `tony.launcher.command=${command}`, "--shell_env", `PATH=${bin}:/usr/bin:/bin`];
    const { exitCode, stdout } = await alice.run("submit", "--conf", example("mpi"), ...settings, "--logs", "all");
    const files = Array.from(stdout.matchAll(/ segments (\d) (.+)$/gm), ([, task = "", words = ""]) =>
      words.split(" ").map((file) => ({ task, file })),
    ).flat();
    const tasksOf = (file: string) => new Set(files.filter((other) => other.file === file).map(({ task }) => task));
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const { file } of files) expect([file, tasksOf(file).size]).toEqual([file, 1]);
    expect(exitCode).toBe(0);
  }, 600_000);

  test("mpi: a process that dies fails the launcher, whose last lines name its rank", async () => {
    const bin = path.dirname(await pythonEnvironment("frameworks"));
    const program = "from mpi4py import MPI; import os, time; MPI.COMM_WORLD.rank == 3 and os.abort(); time.sleep(600)";
    const command = `mpirun python3 -c '${program}'`;
    const settings = ["--conf", `tony.launcher.command=${command}`, "--shell_env", `PATH=${bin}:/usr/bin:/bin`];
    const { exitCode, stdout } = await alice.run("submit", "--conf", example("mpi"), ...settings);
    expect(stdout).toMatch(/^Root cause {3}launcher:0 was ended by SIGABRT on /m);
    expect(stdout).toMatch(/process rank 3 with PID \d+ on node .* exited on/);
    expect(exitCode).toBe(1);
  }, 600_000);

  test("tensorflow-ps: the parameter server serves two workers and is stopped when they are done", async () => {
    const python = await pythonEnvironment("tensorflow");
    const { exitCode, stdout } = await runWith(python, "tensorflow-ps");

    expect(stdout).toMatch(/^ps:0 +\| ps:0 serves at \S+:\d+$/m);
    for (const worker of [0, 1]) {
      const done = new RegExp(
        `^worker:${worker} \\| worker ${worker} done, the model at step \\d+, accuracy ([\\d.]+) %$`,
        "m",
      ).exec(stdout);
      expect(Number(done?.[1])).toBeGreaterThan(80);
    }
    expect(stdout).toContain("SUCCEEDED");
    expect(exitCode).toBe(0);

    const [id = ""] = stdout.split(" ");
    expect(await alice.json("status", id)).toMatchObject({
      status: { checkpoint: { path: expect.stringMatching(`^hdfs://.*/${id}/worker-0/step-\\d+-at-`) } },
    });
  }, 600_000);
});
