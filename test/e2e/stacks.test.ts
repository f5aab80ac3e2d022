import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

const waits = `import os, time
print("begun")
if os.environ["TASK_INDEX"] == "2":
    time.sleep(600)
while True:
    time.sleep(0.1)
`;

describe("where a job's programs stand", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("is told of all tasks, who stands alone, and of one; nothing ends by it", async () => {
    const script = path.join(alice.folder, "waits.py");
    writeFileSync(script, waits);
    const job = alice.job("stacks", {
      ...oneTask,
      "tony.worker.instances": "3",
      "tony.worker.resources": script,
      "tony.shells.instances": "1",
      "tony.shells.command": "echo begun; sleep 600; true",
      "tony.worker.command": "python3 waits.py",
      "tony.task.idle-warning-ms": "5s",
    });
    const { stdout: submitted } = await alice.run("submit", "--detach", job);
    const [id = ""] = /application_\d+_\d+/.exec(submitted) ?? [];
    const stand = "2 of 3 at waits.py:6\nworker:2 at waits.py:4\n";
    await eventually("all run", async () => (await alice.run("stacks", id)).stdout.startsWith(stand));

    const all = await alice.run("stacks", id);
    expect(all).toMatchObject({ exitCode: 0, stderr: "" });
    expect(all.stdout).toMatch(
      /^2 of 3 at waits\.py:6\nworker:2 at waits\.py:4\n\nworker:0 {2}python3\S* \(process \d+\)\n/,
    );
    expect(all.stdout).toMatch(/^shells:0 {2}sleep \(process \d+\): no stacks, it is not Python$/m);

    const { stdout: one } = await alice.run("stacks", id, "worker:2", "--json");
    expect(JSON.parse(one)).toMatchObject({
      tasks: [{ task: "worker:2", processes: [{ program: expect.stringMatching(/^python3/) }] }],
      groups: [{ where: "at waits.py:4", who: ["worker:2"] }],
    });
    expect(await alice.run("stacks", id, "worker:9")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("The job has no task worker:9"),
    });
    const idle = /^idle: .*\bworker:0 to worker:2\b.* used .*CPU (?:for|in) \d+ s$/m;
    await eventually("is idle", async () => idle.test((await alice.run("status", id)).stdout));
    expect((await alice.run("logs", id, "am")).stdout).toContain(` → tony-ts stacks ${id}`);
    const { stdout: status } = await alice.run("status", id, "--json");
    const { status: told } = JSON.parse(status);
    expect(await alice.run("kill", id)).toMatchObject({ exitCode: 0 });
    expect(told.tasks.map(({ state }: { readonly state: string }) => state)).toEqual(Array(4).fill("running"));
  });
});

/** PyTorch's file of that name, as far as a stack shows it. */
const exchange = `import time

def all_reduce():
    while True:
        time.sleep(0.1)
`;

const hangs = `import json, os, sys, time
sys.path.insert(0, "packages/site-packages/torch/distributed")
import distributed_c10d

with open(os.environ["TONY_PROGRESS_FILE"], "a") as file:
    file.write(json.dumps({"step": 7}) + chr(10))
if os.environ["TASK_INDEX"] == "2":
    time.sleep(600)
distributed_c10d.all_reduce()
`;

describe("a gang that hangs", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("is told with where its tasks stand, and the one that holds up the others", async () => {
    const library = path.join(alice.folder, "packages/site-packages/torch/distributed");
    mkdirSync(library, { recursive: true });
    writeFileSync(path.join(library, "distributed_c10d.py"), exchange);
    const script = path.join(alice.folder, "train.py");
    writeFileSync(script, hangs);
    const job = alice.job("hangs", {
      ...oneTask,
      "tony.worker.instances": "3",
      "tony.worker.resources": `${script},${path.join(alice.folder, "packages")}`,
      "tony.worker.command": "python3 train.py",
      "tony.task.progress-timeout": "3s",
    });
    const { exitCode, stdout } = await alice.run("submit", job);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      "holds up the others: no progress for 3 s at step 7; 2 of 3 in all_reduce train.py:9; worker:2 at train.py:8",
    );
  });
});
