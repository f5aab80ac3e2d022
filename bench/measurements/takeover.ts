import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterStatus } from "../../test/support/cluster.ts";
import { BenchJob } from "../bench-job.ts";
import { atMost } from "../figures.ts";
import type { Measurement } from "../measurement.ts";
import { bundleProcesses } from "../process-memory.ts";

const yarn = "AM killed → YARN has started the next one";
const serving = "next AM's start → it is registered and serves";

const limitMs = 60_000;

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
      const [master] = bundleProcesses("am.mjs", id);
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

/** What the next AM says of itself in its log on the node. */
async function secondAttempt(
  cluster: ClusterStatus,
  id: string,
): Promise<{ readonly startedAtMs: number; readonly registeredAtMs: number }> {
  const giveUpAtMs = Date.now() + limitMs;
  while (Date.now() < giveUpAtMs) {
    const events = cluster.nodes.flatMap(({ folder }) => eventsOf(path.join(folder, "logs", id)));
    const startedAtMs = timeOf(events, "am-started");
    const registeredAtMs = timeOf(events, "am-registered");
    if (startedAtMs !== undefined && registeredAtMs !== undefined) return { startedAtMs, registeredAtMs };
    await sleep(20);
  }
  throw new Error(`no second attempt of ${id} within ${limitMs / 1000} s`);
}

function eventsOf(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((container) => path.join(folder, container, "am.log"))
    .filter((file) => existsSync(file))
    .flatMap((file) => readFileSync(file, "utf8").split("\n"));
}

function timeOf(events: readonly string[], event: string): number | undefined {
  const line = events.find((text) => text.includes(`"event":"${event}"`) && text.includes('"attempt":2'));
  const time = line === undefined ? undefined : /"time":"([^"]+)"/.exec(line)?.[1];
  return time === undefined ? undefined : Date.parse(time);
}
