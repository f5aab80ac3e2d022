import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterStatus } from "../../test/support/cluster.ts";
import { BenchJob } from "../bench-job.ts";
import { atMost } from "../figures.ts";
import { loggedAtMs } from "../master-log.ts";
import type { Measurement } from "../measurement.ts";
import { bundleProcesses } from "../process-memory.ts";
import { until } from "../until.ts";

const yarn = "AM killed → YARN has started the next one";
const serving = "next AM's start → it is registered and serves";

export const takeover: Measurement = {
  name: "takeover",
  what: "the AM of a job of 3 tasks is killed; its programs run on",
  warmUps: 0,
  figures: [
    { name: yarn, unit: "ms" },
    { name: serving, unit: "ms", budget: atMost(500) },
  ],
  async run(clusterOf) {
    const cluster = await clusterOf();
    const job = new BenchJob(cluster, { tasks: 3 });
    try {
      const id = await job.id();
      await job.started();
      await sleep(1_000);
      const [master] = bundleProcesses("am.cjs", id);
      if (master === undefined) throw new Error("the AM was not found in /proc");
      const killedAtMs = Date.now();
      process.kill(master, "SIGKILL");
      const { startedAtMs, registeredAtMs } = await secondAttempt(cluster, id);
      job.release();
      await job.finished();
      return { [yarn]: startedAtMs - killedAtMs, [serving]: registeredAtMs - startedAtMs };
    } finally {
      await job.dispose();
    }
  },
};

/** What the next AM writes about itself to its log on the node. */
async function secondAttempt(
  cluster: ClusterStatus,
  id: string,
): Promise<{ readonly startedAtMs: number; readonly registeredAtMs: number }> {
  const when = (event: string) => until(`${event} of attempt 2`, () => loggedAtMs(cluster, id, event, '"attempt":2'));
  return { startedAtMs: await when("am-started"), registeredAtMs: await when("am-registered") };
}
