import { writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { exampleJob } from "../support/examples.ts";
import { fileSystemsOf } from "../support/file-systems.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const { fileSystem } = fileSystemsOf(cluster, ClusterUser.alice).locate("/");
/** On a secure cluster in an encryption zone: what is read, and what becomes of it. */
const folder = cluster.settings.secure ? "/encrypted/feed-input" : "/user/alice/feed-input";
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

/** The example, which is killed behind some of its batches. */
const killed = `
import os, signal, tony_ts
write, batches = tony_ts.Feed.write, 0
def writing(feed, rows):
    global batches
    batches += 1
    write(feed, rows)
    if batches == 5 and os.environ["TASK_INDEX"] == "1" and "TONY_RESTART_REASON" not in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
tony_ts.Feed.write = writing
exec(open("infer.py").read())
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

  test("has each row once in its results, also when a task was killed in the middle and started again alone", async () => {
    const texts = Array.from({ length: 40 }, (_, file) =>
      Array.from({ length: 500 }, (_line, nth) => `text ${nth} of ${file}`),
    );
    for (const [file, lines] of texts.entries()) {
      const name = `${folder}/texts/${String(file).padStart(2, "0")}`;
      await fileSystem.create(name, Buffer.from(`${lines.join("\n")}\n`), { permission: 0o600, overwrite: true });
    }
    const output = `${folder}/counts`;
    const killing = path.join(alice.folder, "killing.py");
    writeFileSync(killing, killed);
    const words = ["--src_dir", packageFolder, "--logs", "all"];
    const settings = [
      `tony.feed.lines.input=${folder}/texts`,
      `tony.feed.lines.output=${output}`,
      "tony.worker.command=PYTHONPATH=. python3 killing.py",
      `tony.containers.resources=${killing}`,
    ].flatMap((setting) => ["--conf", setting]);
    const submit = ["submit", "--conf", exampleJob("batch-inference"), ...settings, ...words];
    const { exitCode, stdout } = await alice.run(...submit);
    expect(stdout).toContain("SIGKILL");
    expect(exitCode).toBe(0);
    const parts = (await fileSystem.list(output)).map((file) => path.basename(file.path));
    const names = texts.map((_lines, file) => `part-00000${String(file).padStart(2, "0")}`);
    expect(parts).toEqual(["_SUCCESS", "_manifest.json", ...names]);
    const counted = await Promise.all(
      texts.map((_lines, file) => fileSystem.open(`${output}/${parts[file + 2]}`).then(text)),
    );
    expect(counted).toEqual(texts.map((lines) => lines.map((line) => `4 ${line}\n`).join("")));
    const again = await alice.run(...submit);
    expect(again.stderr).toContain(`tony.feed.lines.output names ${output}, which exists already`);
    expect(again.exitCode).toBe(3);
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
