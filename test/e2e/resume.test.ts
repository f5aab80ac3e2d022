import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { oneTask, Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** Says what it began with, and saves a checkpoint of one line if it began with none. */
const trains = `set -e
cat "\${TONY_CHECKPOINT:-/dev/null}"
[ -n "\${TONY_CHECKPOINT-}" ] && exit 0
echo "weights of step 7" > "$TONY_CHECKPOINT_LOCAL_DIR/7.pt"
echo "{\\"step\\": 7, \\"checkpoint\\": \\"$TONY_CHECKPOINT_LOCAL_DIR/7.pt\\"}" >> "$TONY_PROGRESS_FILE"`;

describe("a job that resumes from an earlier one", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("has its last checkpoint, as has the next one that resumes from this", async () => {
    const settings = {
      ...oneTask,
      "tony.worker.command": "bash train.sh",
      "tony.containers.resources": "train.sh",
      "tony.checkpoint.local-dir": "ckpt",
      "tony.application.checkpoint-dir": "ckpt/resumed",
    };
    const job = alice.job("train", settings, { "train.sh": trains });
    const idIn = (text: string) => /application_\d+_\d+/.exec(text)?.[0] ?? "";
    const first = await alice.run("submit", job);
    expect(first.exitCode).toBe(0);
    const id = idIn(first.stdout);

    const second = await alice.run("submit", job, "--resume-from", id);
    expect(second).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^worker:0 \| weights of step 7$/m) });
    expect(second.stderr).toMatch(
      new RegExp(`^Resuming from ${id}: step 7, saved .* before the end: hdfs://\\S+/step-7-at-\\d+$`, "m"),
    );
    const status = await alice.run("status", idIn(second.stdout));
    expect(status.stdout).toMatch(/^ +began with hdfs:\/\/\S+\/step-7-at-\d+$/m);

    const third = await alice.run("submit", job, "--resume-from", idIn(second.stdout));
    expect(third.stdout).toMatch(/^worker:0 \| weights of step 7$/m);

    const without = await alice.run("submit", alice.job("none", oneTask));
    const refused = await alice.run("submit", job, "--resume-from", idIn(without.stdout));
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("left no checkpoint") });
  });
});
