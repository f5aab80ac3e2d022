import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { Person } from "../support/person.ts";
import { sweep } from "../support/sweep.ts";

const cluster = await testCluster();

/** Programs that run in the ApplicationMaster's own container. */
describe("in the ApplicationMaster's container", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("a job without tasks runs its command, starts it again when it fails, and keeps its output", async () => {
    const job = alice.job("single", {
      "tony.am.retry-count": 1,
      "tony.am.command":
        'echo "life $TONY_GENERATION of $JOB_NAME:$TASK_INDEX"; echo "at home in $HOME"; [ "$TONY_GENERATION" = 2 ]',
    });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job);
    expect(stdout).toContain("driver:0 | life 1 of driver:0");
    // As the NodeManager has it (yarn.nodemanager.user-home-dir).
    expect(stdout).toContain("driver:0 | at home in /home/");
    expect(stdout).toContain("1 of 1 task exited 0 · 1 restart");
    expect(exitCode).toBe(0);

    const [id = ""] = stdout.split(" ");
    const stored = await alice.run("logs", id, "driver:0");
    expect(stored.stdout).toMatch(/^life 1 of driver:0\n(.*\n)*life 2 of driver:0$/m);
  });

  test("preprocessing comes first, and all others are told what it found", async () => {
    const job = alice.job("preprocess", {
      "tony.application.enable-preprocess": "true",
      "tony.am.command":
        'echo "PREPROCESSING_JOB $PREPROCESSING_JOB"; echo "Model parameters: --depth 3 --name \'a b\'"',
      "tony.worker.instances": 2,
      "tony.worker.memory": "512m",
      "tony.worker.command": 'echo "told $MODEL_PARAMS"',
    });
    const { exitCode, stdout } = await alice.run("submit", "--conf", job, "--logs", "all");
    expect(stdout).toMatch(/ \| PREPROCESSING_JOB true$/m);
    for (const index of [0, 1]) expect(stdout).toContain(`worker:${index} | told --depth 3 --name 'a b'`);
    expect(exitCode).toBe(0);
  });
});
