import { afterAll, afterEach, describe, expect, test } from "@jest/globals";
import type { Inspection } from "../../../client/master/inspection.ts";
import { testCluster } from "../../support/cluster.ts";
import { eventually } from "../../support/eventually.ts";
import { exampleJob, runExample } from "../../support/examples.ts";
import { Person } from "../../support/person.ts";
import { pythonEnvironment } from "../../support/provide.ts";
import { sweep } from "../../support/sweep.ts";

const cluster = await testCluster();

describe("the examples of Horovod", () => {
  const alice = new Person(cluster);
  afterEach(() => sweep(cluster));
  afterAll(() => alice.leave());

  test("horovod: two processes in each of two containers train one model", async () => {
    const { exitCode, stdout } = await runExample(alice, await pythonEnvironment("horovod"), "horovod");
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
    const words = ["--conf", exampleJob("horovod"), "--conf", `tony.worker.command=${command}`, ...settings];
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
      / (restarting \(generation 2\)|generation 1( ended|, cause corrected)): +worker:1 (was ended by SIGKILL|exited 137) on /,
    );
    expect(stdout.match(/^worker:\d \| resumed from step \d+$/gm)).toHaveLength(4);
    expect(stdout).toMatch(/^worker:0 \| y = 3\.00 x \+ 2\.00$/m);
    expect(stdout).toContain("2 of 2 tasks exited 0 · 1 restart");
    expect(exitCode).toBe(0);
  }, 600_000);
});
