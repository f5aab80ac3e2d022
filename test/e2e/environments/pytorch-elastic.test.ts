import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { at, listAt } from "../../support/http-json.ts";
import { Person } from "../../support/person.ts";
import { processesWith } from "../../support/processes.ts";
import { pythonWith } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();

/** Steps together until somebody says that it is enough; whoever begins again goes on from what the first of them has saved. */
const TRAIN = `import os, time, torch, torch.distributed as distributed
out = os.environ["OUT"]
distributed.init_process_group("gloo")
rank, world, task = distributed.get_rank(), distributed.get_world_size(), os.environ["TASK_INDEX"]
saved = os.path.join(out, "step")
step = torch.tensor(int(open(saved).read()) if os.path.exists(saved) else 0)
distributed.broadcast(step, 0)
print(f"worker:{task} is {rank} of {world} from step {int(step)}", flush=True)
open(os.path.join(out, f"{task}-of-{world}-{os.getpid()}"), "w").close()
while True:
    step += 1
    ends = torch.tensor(float(os.path.exists(os.path.join(out, "enough"))))
    distributed.all_reduce(ends)
    if rank == 0:
        with open(saved + ".new", "w") as file: file.write(str(int(step)))
        os.replace(saved + ".new", saved)
    if ends > 0: break
    time.sleep(0.1)
distributed.destroy_process_group()
`;

describe("torchrun with fewer tasks than it may have", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  const job = async (name: string, out: string, settings: Readonly<Record<string, string | number>>) =>
    alice.job(
      name,
      {
        "tony.application.framework": "torchrun",
        "tony.worker.min-instances": 2,
        "tony.worker.command": `"${await pythonWith("torch")}" -m torch.distributed.run train.py`,
        // Debian's torch 1.13 on Python 3.11 reads its own default for these as nothing at all.
        "tony.worker.envs": `OUT=${out},PET_REDIRECTS=1,PET_TEE=1`,
        "tony.containers.resources": "train.py",
        ...settings,
      },
      { "train.py": TRAIN },
    );
  const stepIn = (out: string) =>
    Number(existsSync(path.join(out, "step")) && readFileSync(path.join(out, "step"), "utf8"));
  const meetingsOf = (out: string, world: number) => readdirSync(out).filter((file) => file.includes(`-of-${world}-`));

  test("a worker's container is lost: the others go on without it, it joins them again, and all end together", async () => {
    const out = alice.shared("steps-lost");
    const xml = await job("lost", out, { "tony.worker.instances": 3, "tony.worker.memory": "2g" });
    const submitted = alice.start("submit", "--conf", xml, "--logs", "all");
    const [id] = await submitted.output(/application_\d+_\d+/);
    await eventually("the first steps of three", () => meetingsOf(out, 3).length >= 3 && stepIn(out) > 5);
    const before = stepIn(out);
    const tasks = await tasksOf(id);
    for (const pid of processesWith("CONTAINER_ID", String(at(tasks[1], "containerId")))) {
      process.kill(pid, "SIGKILL");
    }

    await eventually("further steps of three", () => meetingsOf(out, 3).length >= 6 && stepIn(out) > before + 5);
    const again = await tasksOf(id);
    expect([again[0], again[2]]).toMatchObject(
      [tasks[0], tasks[2]].map((task) => ({ containerId: at(task, "containerId"), restarts: 0 })),
    );
    expect(again[1]).toMatchObject({ task: "worker:1", state: "running", restarts: 1 });
    writeFileSync(path.join(out, "enough"), "");
    const { exitCode, stdout } = await submitted.ended;
    const began = Array.from(stdout.matchAll(/(worker:\d) is \d of 3 from step (\d+)$/gm), ([, task, step]) => {
      return { task, step: Number(step) };
    });
    const resumed = began.filter(({ step }) => step >= before).map(({ task }) => task);
    expect([...new Set(resumed)].sort()).toEqual(["worker:0", "worker:1", "worker:2"]);
    expect(stdout).toMatch(/SUCCEEDED +3 of 3 tasks exited 0 · 1 restart/);
    expect(exitCode).toBe(0);
  }, 600_000);

  test("the cluster has room for some: these train, say what is missing, and do not wait for it at their end", async () => {
    const out = alice.shared("steps-few");
    const settings = { "tony.worker.instances": 9, "tony.worker.memory": "3g", "tony.container.rest-timeout": "3s" };
    const submitted = alice.start("submit", "--conf", await job("few", out, settings), "--logs", "all");
    const [id] = await submitted.output(/application_\d+_\d+/);
    await eventually("the first steps", () => stepIn(out) > 10);
    const { stdout: words } = await alice.run("status", id);
    expect(words).toMatch(
      /containers for worker:\d.*, worker:8: worker runs with [2-8] of 9, which may be as few as 2$/m,
    );
    writeFileSync(path.join(out, "enough"), "");
    const { exitCode, stdout } = await submitted.ended;
    expect(stdout).toMatch(/SUCCEEDED +[2-8] of 9 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);
  }, 600_000);

  const tasksOf = async (id: string) => listAt(await alice.json("status", id), "status", "tasks");
});
