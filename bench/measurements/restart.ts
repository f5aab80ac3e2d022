import { setTimeout as sleep } from "node:timers/promises";
import { BenchJob } from "../bench-job.ts";
import { atMost } from "../figures.ts";
import type { Measurement } from "../measurement.ts";

const restart = "killed program → the next generation's programs all running";

/** The tasks of the bench stop at once and start at once, so that what is left is ours. */
export const generationRestart: Measurement = {
  name: "restart",
  what: "one of 3 programs is killed; containers are kept",
  warmUps: 0,
  figures: [{ name: restart, unit: "ms", budget: atMost(1_000) }],
  async run(clusterOf) {
    const cluster = await clusterOf();
    const job = new BenchJob(cluster, { tasks: 3, settings: { "tony.am.retry-count": "1" } });
    try {
      await job.started();
      await sleep(1_000);
      const killedAtMs = Date.now();
      process.kill(job.pidOf(1), "SIGKILL");
      const runningAtMs = await job.started(2);
      job.release();
      await job.finished();
      return { [restart]: runningAtMs - killedAtMs };
    } finally {
      await job.dispose();
    }
  },
};
