import { writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { ClusterUser, testCluster } from "../support/cluster.ts";
import { exampleJob } from "../support/examples.ts";
import { fileSystemsOf } from "../support/file-systems.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();
const { fileSystem } = fileSystemsOf(cluster, ClusterUser.alice).locate("/");
/** On a secure cluster in an encryption zone: what is read, and what becomes of it. */
const folder = cluster.settings.secure ? "/encrypted/feed-results" : "/user/alice/feed-results";

/** With the Python package in it. */
const packageFolder = path.resolve("python/src");

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

describe("a feed with results on HDFS", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(async () => {
    await fileSystem.delete(folder, { recursive: true });
    await alice.leave();
  });

  test("has each row once in them, also when a task was killed in the middle and started again alone", async () => {
    await fileSystem.mkdirs(folder, 0o700);
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
});
