import { readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { at, listAt } from "../../support/http-json.ts";
import { Person } from "../../support/person.ts";
import { processesWith } from "../../support/processes.ts";
import { pythonEnvironment } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();

/** Steps together until somebody says that it is enough. Each meeting leaves a file: who is there, how many they are, from which step they go on. */
const TRAIN = `import os, time
import horovod.torch as hvd
import torch
out, task = os.environ["OUT"], os.environ["TASK_INDEX"]
asked = lambda what: os.path.exists(os.path.join(out, what))
hvd.init()
model = torch.nn.Linear(1, 1)
optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.01), named_parameters=model.named_parameters())

@hvd.elastic.run
def train(state):
    open(os.path.join(out, f"{task}-of-{hvd.size()}-from-{state.step}-at-{time.time_ns()}"), "w").close()
    while True:
        inputs = torch.randn(8, 1)
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), 3 * inputs).backward()
        optimizer.step()
        state.step += 1
        ends = hvd.allreduce(torch.tensor(float(asked("enough"))), op=hvd.Sum, name="ends")
        state.commit()
        if ends > 0: return
        if asked(f"fail-{task}"):
            os.remove(os.path.join(out, f"fail-{task}"))
            raise RuntimeError("as it was asked to")
        time.sleep(0.1)

train(hvd.elastic.TorchState(model=model, optimizer=optimizer, step=0))
print(f"worker:{task} has done its share", flush=True)
`;

describe("Horovod with fewer tasks than it may have", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("a container is lost and a program fails: the others go on from their last commit, and both join them again", async () => {
    const out = alice.shared("meetings");
    const job = await alice.job(
      "horovod",
      {
        "tony.application.framework": "horovod",
        "tony.worker.instances": 3,
        "tony.worker.min-instances": 2,
        "tony.worker.memory": "2g",
        "tony.worker.command": `"${await pythonEnvironment("horovod")}" train.py`,
        // How long those that do not notice a loss themselves wait for the others.
        "tony.worker.envs": `OUT=${out},HOROVOD_GLOO_TIMEOUT_SECONDS=20`,
        "tony.containers.resources": "train.py",
        "tony.am.retry-count": 1,
      },
      { "train.py": TRAIN },
    );
    /** All three have met since there were these files. @returns from which step they go on */
    const meet = async (what: string, known: readonly string[]): Promise<number> =>
      await eventually(what, () => {
        const files = readdirSync(out).filter((file) => !known.includes(file));
        const met = files.flatMap((file) => {
          const [, task, step] = /^(\d)-of-3-from-(\d+)-at-/.exec(file) ?? [];
          return task === undefined ? [] : [{ task, step: Number(step) }];
        });
        return new Set(met.map(({ task }) => task)).size === 3 && Math.max(...met.map(({ step }) => step));
      });
    const submitted = alice.start("submit", "--conf", job, "--logs", "all");
    const [id] = await submitted.output(/application_\d+_\d+/);
    const tasksOf = async () => listAt(await alice.json("status", id), "status", "tasks");
    await meet("a meeting of three", []);
    const tasks = await tasksOf();

    const atFirst = readdirSync(out);
    for (const pid of processesWith("CONTAINER_ID", String(at(tasks[1], "containerId")))) {
      process.kill(pid, "SIGKILL");
    }
    const second = await meet("a meeting of three again", atFirst);
    const beforeThird = readdirSync(out);
    writeFileSync(path.join(out, "fail-2"), "");
    expect(await meet("a third one", beforeThird)).toBeGreaterThan(second);

    const again = await tasksOf();
    expect(again).toMatchObject([
      { restarts: 0, containerId: at(tasks[0], "containerId") },
      { restarts: 1 },
      { restarts: 1, containerId: at(tasks[2], "containerId") },
    ]);
    writeFileSync(path.join(out, "enough"), "");
    const { exitCode, stdout } = await submitted.ended;
    expect(stdout).toContain("worker:2 exited 1 on ");
    expect(stdout.match(/ \| worker:\d has done its share$/gm)).toHaveLength(3);
    expect(stdout).toMatch(/SUCCEEDED +3 of 3 tasks exited 0 · 2 restarts/);
    expect(exitCode).toBe(0);
  }, 600_000);
});
