import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { ClusterUser, testCluster } from "../../support/cluster.ts";
import { exampleJob, runExample } from "../../support/examples.ts";
import { fileSystemsOf } from "../../support/file-systems.ts";
import { Person } from "../../support/person.ts";
import { pythonWith } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();

describe("the examples of PyTorch", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("pytorch-digits: two workers train a model to more than 95 %", async () => {
    const python = await pythonWith("torch");
    const { exitCode, stdout } = await runExample(alice, python, "pytorch-digits");

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
    const words = [
      "submit",
      "--conf",
      exampleJob("torchrun"),
      "--shell_env",
      `PYTHON=${python}`,
      ...tee,
      "--logs",
      "all",
    ];
    const { exitCode, stdout } = await alice.run(...words);

    // torchrun's two threads for the processes of a container may write into each other's lines.
    const ranks = Array.from(stdout.matchAll(/\brank (\d) of 4/g), ([, rank]) => Number(rank));
    expect(ranks.sort()).toEqual([0, 1, 2, 3]);
    expect(stdout).toMatch(/y = 3\.00 x \+ 2\.00/);
    expect(exitCode).toBe(0);
  });
});

const EVEN = `import torch, torch.distributed as distributed, tony_ts
distributed.init_process_group("gloo")
learned = torch.zeros(2, dtype=torch.int64)
for batch in tony_ts.feed("train").batches(100):
    rows = list(map(int, batch[: len(batch) - batch.padding]))
    step = torch.tensor([sum(rows), len(rows)])
    distributed.all_reduce(step)
    learned += step
print("learned", *learned.tolist())
`;

describe("a feed of uneven splits", () => {
  const alice = new Person(cluster);
  const { fileSystem } = fileSystemsOf(cluster, ClusterUser.alice).locate("/");
  const folder = "/user/alice/uneven-input";
  afterEach(() => sweep(cluster));
  afterAll(async () => {
    await fileSystem.delete(folder, { recursive: true });
    await alice.leave();
  });

  test("is read to its end by workers that reduce each step, with each row in it once", async () => {
    const counts = [40_000, 1_000, 77, 9_000, 20_033];
    let from = 0;
    await fileSystem.mkdirs(folder, 0o700);
    for (const [place, count] of counts.entries()) {
      const lines = Array.from({ length: count }, (_, nth) => `${from + nth}\n`).join("");
      await fileSystem.create(`${folder}/${place}`, Buffer.from(lines), { permission: 0o600, overwrite: true });
      from += count;
    }
    const settings = {
      "tony.application.framework": "pytorch",
      "tony.worker.instances": 2,
      "tony.worker.memory": "1g",
      "tony.worker.command": `PYTHONPATH=. "${await pythonWith("torch")}" even.py`,
      "tony.containers.resources": `even.py,${path.resolve("python/src/tony_ts")}`,
      "tony.feed.train.input": folder,
      "tony.feed.train.uneven": "pad",
    };
    const job = alice.job("even", settings, { "even.py": EVEN });
    const { exitCode, stdout } = await alice.run("submit", job, "--logs", "all");
    const words = `learned ${(from * (from - 1)) / 2} ${from}`;
    expect(stdout).toMatch(new RegExp(`^worker:0 \\| ${words}$`, "m"));
    expect(stdout).toMatch(new RegExp(`^worker:1 \\| ${words}$`, "m"));
    expect(exitCode).toBe(0);
  });
});
