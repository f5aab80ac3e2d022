import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import { fileSystemsOf } from "../support/file-systems.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const { fileSystem } = fileSystemsOf(cluster, ClusterUser.alice).locate("/");
const folder = "/user/alice/feed-input";
const LINES = 300_000;
/** Of the numbers 0 to 599,999, each on a line of its own. */
const TOTAL = LINES * (2 * LINES - 1);

/** With the Python package in it. */
const packageFolder = path.resolve("python/src");

const sums = `
import os, signal, tony_ts
batches = total = 0
for batch in tony_ts.feed("train").batches(1000):
    batches += 1
    total += sum(map(int, batch))
    if os.environ["TONY_GENERATION"] == "1" and os.environ["TASK_INDEX"] == "1" and batches == 20:
        os.kill(os.getpid(), signal.SIGKILL)
print("total", total)
`;

const grows = `
import os, pathlib, tony_ts
train = sum(sum(map(int, batch)) for batch in tony_ts.feed("train").batches(100))
clicks = 0
for batch in tony_ts.feed("clicks").batches(100):
    clicks += sum(map(int, batch))
    pathlib.Path(os.environ["OUTPUT"], "has-begun").touch()
print("sums", train, clicks)
`;

describe("a feed on HDFS", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(async () => {
    await fileSystem.delete(folder, { recursive: true });
    await alice.leave();
  });

  test("gives each row to one task, once, also when a task was killed in the middle and all began again", async () => {
    await fileSystem.mkdirs(folder, 0o700);
    for (const part of [0, 1]) {
      const lines = Array.from({ length: LINES }, (_, nth) => `${part * LINES + nth}\n`).join("");
      await fileSystem.create(`${folder}/part-${part}`, Buffer.from(lines), { permission: 0o600, overwrite: true });
    }
    const settings = {
      ...oneTask,
      "tony.worker.instances": 2,
      "tony.worker.command": "PYTHONPATH=. python3 sums.py",
      "tony.containers.resources": "sums.py",
      "tony.am.retry-count": 1,
      "tony.feed.train.input": `${folder}/part-*`,
      "tony.feed.train.split-size": "1m",
      "tony.feed.train.window": 1,
      "tony.feed.train.shuffle": 7,
    };
    const job = alice.job("sums", settings, { "sums.py": sums });
    const shown = await alice.run("submit", job, "--dry-run", "--src_dir", packageFolder);
    expect(shown.stdout).toContain("  feed train: 2 files, 3.9 MiB, 4 splits\n");
    const { exitCode, stdout } = await alice.run("submit", job, "--src_dir", packageFolder, "--logs", "all");
    expect(stdout).toContain("SIGKILL");
    expect(exitCode).toBe(0);
    const totals = [...stdout.matchAll(/^worker:\d \| total (\d+)$/gm)].map(([, total]) => Number(total));
    expect(totals).toHaveLength(2);
    expect(totals.reduce((sum, total) => sum + total, 0)).toBe(TOTAL);
  });

  test("grows until a file says that no more comes; epochs of another one overlap", async () => {
    const lines = (first: number) =>
      Buffer.from(Array.from({ length: 1_000 }, (_, nth) => `${first + nth}\n`).join(""));
    const write = (name: string, content: Buffer) =>
      fileSystem.create(`${folder}/${name}`, content, { permission: 0o600, overwrite: true });
    await write("few/a", lines(0));
    await write("few/b", lines(1_000));
    await write("clicks/a", lines(0));
    const output = alice.shared("grown");
    const settings = {
      ...oneTask,
      "tony.worker.instances": 2,
      "tony.worker.command": "PYTHONPATH=. python3 grows.py",
      "tony.containers.resources": "grows.py",
      "tony.containers.envs": `OUTPUT=${output}`,
      "tony.feed.train.input": `${folder}/few`,
      "tony.feed.train.epochs": 2,
      "tony.feed.train.boundary": "overlap",
      "tony.feed.clicks.input": `${folder}/clicks`,
      "tony.feed.clicks.relist": "1s",
      "tony.feed.clicks.until": `${folder}/clicks/_DONE`,
    };
    const job = alice.job("grows", settings, { "grows.py": grows });
    const ended = alice.run("submit", job, "--src_dir", packageFolder, "--logs", "all");
    await eventually("the first file to be read", () => existsSync(path.join(output, "has-begun")));
    await write("clicks/_b", lines(1_000));
    await fileSystem.rename(`${folder}/clicks/_b`, `${folder}/clicks/b`);
    await write("clicks/_DONE", Buffer.alloc(0));
    const { exitCode, stdout } = await ended;
    expect(exitCode).toBe(0);
    const sums = [...stdout.matchAll(/^worker:\d \| sums (\d+) (\d+)$/gm)];
    const sumOf = (place: number) => sums.reduce((sum, found) => sum + Number(found[place]), 0);
    expect([sumOf(1), sumOf(2)]).toEqual([2 * 1_999_000, 1_999_000]);
  });

  test("that is not there is refused before anything is uploaded, at its key", async () => {
    const job = alice.job("none", { ...oneTask, "tony.feed.train.input": "/user/alice/no-such-input" });
    const { exitCode, stderr } = await alice.run("submit", job);
    expect(stderr).toMatch(
      /job\.xml:\d+: tony\.feed\.train\.input names \/user\/alice\/no-such-input, which does not exist/,
    );
    expect(exitCode).toBe(3);
  });
});
