import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { jobOutcome, jobStatus } from "../../src/api/status-codec.ts";
import type { JobSpec, RoleSpec } from "../../src/job/spec.ts";
import type { JobOutcome, JobStatus } from "../../src/job/status.ts";
import { eventually } from "../support/eventually.ts";
import { aJobSpec } from "../support/job-spec.ts";
import { listeningAddresses } from "../support/listeners.ts";
import { JobBundles, LocalJob } from "../support/local-job.ts";
import { processesWhere } from "../support/processes.ts";

/** Whole jobs on this machine: the shipped ApplicationMaster and executors, as processes. */
describe("a job with the local scheduler", () => {
  let bundles: JobBundles;
  let job: LocalJob | undefined;
  const folder = mkdtempSync(path.join(tmpdir(), "tony-local-job-"));

  beforeAll(() => {
    bundles = new JobBundles();
  });
  afterAll(() => {
    bundles.remove();
    rmSync(folder, { recursive: true });
  });
  afterEach(async () => {
    await job?.dispose();
    job = undefined;
  });

  function run(worker: Partial<RoleSpec>, changes: Partial<JobSpec> = {}): LocalJob {
    const spec = aJobSpec(changes);
    job = new LocalJob({ ...spec, roles: spec.roles.map((role) => ({ ...role, ...worker })) }, bundles);
    return job;
  }

  async function outcomeOf(running: LocalJob): Promise<JobOutcome | undefined> {
    await running.ended;
    return running.result.outcome;
  }

  test("succeeds when its tasks do, and leaves the result and the logs, and no secret", async () => {
    const running = run({ command: "echo output of $JOB_NAME $TASK_INDEX" });
    expect(await running.ended).toEqual({ code: 0, signal: null });

    expect(running.result).toMatchObject({ state: "succeeded", outcome: { result: "succeeded" } });
    const containers = readdirSync(path.join(running.staging, "containers")).filter((name) => name !== "filecache");
    const outputs = containers.map((name) => running.read(`containers/${name}/logs/stdout`)).sort();
    expect(outputs).toEqual(["output of worker 0\n", "output of worker 1\n"]);
    const left = ["am", "containers", "executor.cjs", "history", "job.json", "status.json"];
    expect(readdirSync(running.staging).sort()).toEqual(left);
  });

  test("fails when one does, and names it", async () => {
    const running = run({ command: 'test "$TASK_INDEX" = 0 || exit 3; sleep 600' });
    expect(await outcomeOf(running)).toMatchObject({ result: "failed", cause: { task: "worker:1", exit: "3" } });
    expect(await running.ended).toEqual({ code: 0, signal: null });
  });

  test("starts again in its containers while the budget lasts", async () => {
    const failure = { ...aJobSpec().failure, budgets: { program: 1, infrastructure: 0 } };
    const running = run({ command: 'test "$SESSION_ID" = 0 && exit 3; exit 0' }, { failure });
    expect(await outcomeOf(running)).toMatchObject({ result: "succeeded" });

    expect(running.result.generation).toBe(2);
    expect(running.events.filter(({ event }) => event === "container-allocated")).toHaveLength(2);
  });

  test("tells a client its states and last of all its outcome, and every line of a task's log", async () => {
    const seen = path.join(folder, "seen");
    const lines = "for n in 1 2 3; do echo line $n; sleep 0.2; done";
    const running = run({ command: `${lines}; until test -e ${seen}; do sleep 0.1; done; echo the end` });
    const client = await running.client();
    const reading = readAll(client.readLog({ task: "worker:0", stream: "stdout", offset: 0, follow: true }));
    const states: string[] = [];
    let outcome: JobOutcome | undefined;
    for await (const { body } of client.follow()) {
      if (body.type === "status") states.push(jobStatus.decode(body.status).state);
      if (states.includes("running")) writeFileSync(seen, "");
      if (body.type === "outcome") outcome = jobOutcome.decode(body.outcome);
    }

    expect(outcome).toMatchObject({ result: "succeeded" });
    expect(states).toContain("running");
    expect(await reading).toBe("line 1\nline 2\nline 3\nthe end\n");
  });

  test("gives a client the ApplicationMaster's own log, and says which tasks there are", async () => {
    const running = run({ command: "sleep 600" });
    const client = await running.client();
    const log = await readAll(client.readLog({ task: "am", stream: "stdout", offset: 0, follow: false }));
    expect(log).toContain('"event":"am-started"');

    const unknown = readAll(client.readLog({ task: "worker:2", stream: "stdout", offset: 0, follow: false }));
    await expect(unknown).rejects.toThrow("The job has no task worker:2; there are am, worker:0 to worker:1");
  });

  test("is stopped by a client, for the reason that it gives", async () => {
    const running = run({ command: "sleep 600" });
    const client = await running.client();
    await stateReached(running, "running");
    expect(await client.stop("killed by alice", 10_000)).toBe(true);

    expect(await outcomeOf(running)).toMatchObject({ result: "killed", summary: "killed by alice" });
  });

  test("listens on this machine's loopback alone, ApplicationMaster and executors", async () => {
    const running = run({ command: "sleep 600" });
    await stateReached(running, "running");
    const addresses = listeningAddresses(
      processesWhere((variable) => variable.startsWith(`LOG_DIRS=${running.staging}/`)),
    );
    expect(addresses.length).toBeGreaterThanOrEqual(3);
    expect(new Set(addresses)).toEqual(new Set(["0100007F"]));
  });

  test("is ended in order by SIGTERM", async () => {
    const running = run({ command: "sleep 600" });
    await stateReached(running, "running");
    running.master.kill("SIGTERM");

    expect(await outcomeOf(running)).toMatchObject({ result: "killed" });
  });

  test("leaves no process behind when its ApplicationMaster is killed", async () => {
    const running = run({ command: "echo $$ > $LOG_DIRS/pid; exec sleep 600" });
    await stateReached(running, "running");
    const pids = await eventually("both programs", async () => {
      const names = readdirSync(path.join(running.staging, "containers")).filter((name) => name !== "filecache");
      const found = names.map((name) => {
        const logs = readdirSync(path.join(running.staging, "containers", name, "logs"));
        return logs.includes("pid") ? Number(running.read(`containers/${name}/logs/pid`)) : 0;
      });
      return found.length === 2 && !found.includes(0) ? found : undefined;
    });
    running.master.kill("SIGKILL");

    expect(await eventually("the end of the programs", async () => !pids.some(isAlive))).toBe(true);
  });

  test("says what cannot be had on this machine", async () => {
    const running = run({ resource: { memoryMiB: 2 ** 30, vcores: 1, others: {} } });
    expect(await outcomeOf(running)).toMatchObject({
      result: "failed",
      summary: expect.stringMatching(/memory/i),
    });
  });

  async function stateReached(running: LocalJob, state: JobStatus["state"]): Promise<void> {
    const client = await running.client();
    for await (const { body } of client.follow()) {
      if (body.type === "status" && jobStatus.decode(body.status).state === state) return;
    }
    throw new Error(`the job ended without being ${state}`);
  }
});

async function readAll(chunks: AsyncIterable<{ readonly data: Uint8Array }>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const { data } of chunks) parts.push(data);
  return Buffer.concat(parts).toString();
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
