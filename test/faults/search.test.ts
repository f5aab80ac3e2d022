import { describe, expect, test } from "@jest/globals";
import type { TrialsJson } from "../../client/printed-json.ts";
import { testCluster } from "../support/cluster.ts";
import { eventually } from "../support/eventually.ts";
import type { FaultJob } from "../support/fault-job.ts";
import { FaultSuite } from "../support/fault-suite.ts";
import { isRunning } from "../support/processes.ts";

const cluster = await testCluster();
const says = (step: number, loss: string) =>
  `printf '{"step": ${step}, "metrics": {"loss": %s}}\\n' ${loss} >> $TONY_PROGRESS_FILE`;

describe("a seeded search", () => {
  const suite = new FaultSuite(cluster);

  const submit = () =>
    suite.submit({
      verb: "search",
      workers: 1,
      program: `${says(1, "9")}; until test -e $OUTPUT/go -o -e $OUTPUT/go-$TASK_INDEX; do sleep 0.1; done; ${says(2, "{{param.rate}}")}`,
      settings: {
        "tony.search.param.rate": "float 0 1",
        "tony.search.algorithm": "random",
        "tony.search.seed": "7",
        "tony.search.metric": "loss",
        "tony.search.direction": "minimize",
        "tony.search.max-trials": "4",
        "tony.search.max-parallel": "2",
      },
    });

  async function found(job: FaultJob): Promise<readonly object[]> {
    expect((await job.end()).exitCode).toBe(0);
    const { trials }: TrialsJson = JSON.parse((await job.command("trials", "--json")).stdout);
    return trials.map(({ number, state, params, value, step }) => ({ number, state, params, value, step }));
  }

  test("finds the same whether or not its ApplicationMaster was away at the end of trials, and an executor was killed", async () => {
    const job = await submit();
    const first = await job.starting(2);
    await job.journaled();
    await job.status("what they have reported", ({ tasks }) => tasks.filter(({ step }) => step === 1).length === 2);
    const master = await job.master();
    process.kill(master, "SIGSTOP");
    for (const index of [0, 1]) job.write(`go-${index}`);
    await eventually("the first trials' end", () => first.every(({ pid }) => !isRunning(pid)));
    process.kill(master, "SIGKILL");
    const [, , third] = await job.starting(4);
    process.kill(await job.executor(third?.containerId), "SIGKILL");
    await job.starting(5);

    const trials = await found(job);
    expect(trials).toEqual(await found(await submit()));
    expect(trials).toHaveLength(4);
    for (const trial of trials) expect(trial).toMatchObject({ state: "completed", step: 2 });
  });
});
