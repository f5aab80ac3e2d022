import { describe, expect, test } from "@jest/globals";
import { testCluster } from "../support/cluster.ts";
import { WAITS } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { Person } from "../support/person.ts";

const cluster = await testCluster();

/** What has to work on every release and scheduler; `npm run matrix` runs this folder on each of them, and prints a row for each title. */
describe("on this cluster", () => {
  const suite = new FaultSuite(cluster);

  test("three tasks", async () => {
    const job = await suite.submit({ workers: 3, program: 'echo "hello from $TASK_INDEX"' });
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/^worker:0 \| hello from 0$/m);
    expect(stdout).toMatch(/SUCCEEDED +3 of 3 tasks exited 0 · 0 restarts/);
    expect(exitCode).toBe(0);

    expect((await job.command("logs", "worker:2")).stdout).toBe("hello from 2\n");
    expect((await job.command("logs", "am")).stdout).toMatch(/The ApplicationMaster \S+ starts: attempt 1 /);
    expect((await job.command("status")).stdout).toMatch(/ fault · SUCCEEDED · queue \S+ · user alice/);
  });

  test("a failed task", async () => {
    const job = await suite.submit({ program: `echo "bad data" >&2; test $TASK_INDEX = 0 || exit 7; ${WAITS}` });
    const { exitCode, stdout } = await job.client.ended;
    expect(stdout).toMatch(/^Root cause {3}worker:1 exited 7 /m);
    expect(stdout).toMatch(/^ {2}\| bad data$/m);
    expect(stdout).toMatch(/^worker:1 +failed +\S+ +7 /m);
    expect(exitCode).toBe(1);
    expect((await job.command("logs", "worker:1")).stdout).toMatch(/^bad data$/m);
  });

  test("logs of a running job, and its kill", async () => {
    const job = await suite.submit({ program: `echo started; ${WAITS}` });
    await job.client.output(/^worker:0 \| started$/m);
    expect((await job.command("logs", "worker:1")).stdout).toBe("started\n");
    const { exitCode, stdout } = await job.command("kill");
    expect(stdout).toMatch(/^application_\S+ KILLED\b/);
    expect(exitCode).toBe(0);
    expect((await job.client.ended).exitCode).toBe(4);
  });

  test("doctor", async () => {
    const alice = new Person(cluster);
    const { exitCode, stdout } = await alice.run("doctor");
    await alice.leave();
    expect(stdout).toMatch(/✓ runtime/);
    expect(stdout).not.toMatch(/✗/);
    expect(exitCode).toBe(0);
  });
});
