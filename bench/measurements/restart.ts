import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterStatus } from "../../test/support/cluster.ts";
import { BenchJob } from "../bench-job.ts";
import { atMost } from "../figures.ts";
import { loggedAtMs } from "../master-log.ts";
import type { Measurement } from "../measurement.ts";
import { bundleProcesses } from "../process-memory.ts";
import { until } from "../until.ts";

const frozenExecutor = "stopped executor → noticed";

/** The task that is struck. */
const victim = 1;
const settleMs = 1_000;
/** An executor's default. */
const heartbeatMs = 1_000;

/** Kills something of a task and measures until all programs of the next generation run. */
function killing(about: {
  readonly name: string;
  readonly what: string;
  readonly figure: string;
  readonly limitMs: number;
  readonly victim: (job: BenchJob, id: string) => number;
}): Measurement {
  const { name, what, figure, limitMs } = about;
  return {
    name,
    what,
    warmUps: 0,
    figures: [{ name: figure, unit: "ms", budget: atMost(limitMs) }],
    async run(clusterOf) {
      return await withRunningJob(await clusterOf(), async (job, id) => {
        const pid = about.victim(job, id);
        const killedAtMs = Date.now();
        process.kill(pid, "SIGKILL");
        return { [figure]: (await job.started(2)) - killedAtMs };
      });
    },
  };
}

/** The bench's tasks stop and start at once, so that the rest is our own time. */
export const generationRestart = killing({
  name: "restart",
  what: "one of 3 programs is killed; containers are kept",
  figure: "killed program → the next generation's programs all running",
  limitMs: 1_000,
  victim: (job) => job.pidOf(victim),
});

/** One container ends and another one starts, which takes at least one heartbeat of a NodeManager. */
export const executorLoss = killing({
  name: "loss",
  what: "one of 3 executors is killed; its container is replaced",
  figure: "killed executor → the next generation's programs all running",
  limitMs: 5_000,
  victim: (_job, id) => executorOf(id),
});

/** The executor's connection stays up; only its heartbeats stop. */
export const frozenExecutorNoticed: Measurement = {
  name: "frozen",
  what: "one of 4 executors is stopped (SIGSTOP), with the defaults for missed heartbeats",
  warmUps: 0,
  figures: [{ name: frozenExecutor, unit: "ms", budget: atMost(10_000) }],
  async run(clusterOf) {
    const cluster = await clusterOf();
    return await withRunningJob(
      cluster,
      async (job, id) => {
        // At any moment between two heartbeats: whatever follows the programs' start by whole seconds always comes just after
        // a heartbeat.
        await sleep(Math.random() * heartbeatMs);
        const stoppedAtMs = Date.now();
        process.kill(executorOf(id), "SIGSTOP");
        const lost = () => loggedAtMs(cluster, id, "task-lost", `"task":"worker:${victim}"`);
        const noticedAtMs = await until("the executor to be missed", lost);
        await job.started(2);
        return { [frozenExecutor]: noticedAtMs - stoppedAtMs };
      },
      4,
    );
  },
};

/** Does something to a job once all its programs run; then the job goes on to its end. */
async function withRunningJob<Result>(
  cluster: ClusterStatus,
  measure: (job: BenchJob, id: string) => Promise<Result>,
  tasks = 3,
): Promise<Result> {
  const job = new BenchJob(cluster, { tasks, settings: { "tony.am.retry-count": "1" } });
  try {
    const id = await job.id();
    await job.started();
    await sleep(settleMs);
    const result = await measure(job, id);
    job.release();
    await job.finished();
    return result;
  } finally {
    await job.dispose();
  }
}

function executorOf(id: string): number {
  const [pid] = bundleProcesses("executor.cjs", id, `worker:${victim}`);
  if (pid === undefined) throw new Error(`the executor of worker:${victim} was not found in /proc`);
  return pid;
}
