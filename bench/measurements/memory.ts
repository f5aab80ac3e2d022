import { setTimeout as sleep } from "node:timers/promises";
import { BenchJob } from "../bench-job.ts";
import { atMost, type Sample } from "../figures.ts";
import type { Measurement } from "../measurement.ts";
import { bundleProcesses, cpuSeconds, privateMiB, processMemory, proportionalMiB } from "../process-memory.ts";

const master = "AM: memory, 4 tasks";
const executor = "executor: memory, idle";
const further = "executor: each further one on a node (PSS)";
const own = "executor: memory of its own";
const executorCpu = "executor: processor, idle";
const masterCpu = "AM: processor, idle";

/** Long enough for start-up to be over, and for a share of the processor to be more than one tick of Linux's clock. */
const idleMs = 10_000;

/** The AM and the executors of a job whose programs do nothing. */
export const memory: Measurement = {
  name: "memory",
  what: "AM and executors of a job with 4 idle tasks",
  warmUps: 0,
  figures: [
    { name: master, unit: "MiB", budget: atMost(80) },
    { name: executor, unit: "MiB", budget: atMost(62) },
    { name: further, unit: "MiB", budget: atMost(20) },
    { name: own, unit: "MiB" },
    { name: executorCpu, unit: "%", budget: atMost(0.3) },
    { name: masterCpu, unit: "%" },
  ],
  async run(clusterOf): Promise<Sample> {
    const cluster = await clusterOf();
    const job = new BenchJob(cluster, { tasks: 4 });
    try {
      const id = await job.id();
      await job.started();
      await sleep(2_000);
      const masters = bundleProcesses("am.cjs", id);
      const executors = bundleProcesses("executor.cjs", id);
      if (masters.length !== 1 || executors.length !== 4) throw new Error("AM and executors were not found in /proc");
      const before = [masters, executors].map(cpuOf);
      await sleep(idleMs);
      const after = [masters, executors].map(cpuOf);
      const [masterShare = 0, executorShare = 0] = after.map((seconds, index) => seconds - (before[index] ?? 0));
      const sample = {
        [master]: mean(masters.map((pid) => processMemory(pid)?.residentMiB)),
        [executor]: mean(executors.map((pid) => processMemory(pid)?.residentMiB)),
        [further]: mean(executors.map(proportionalMiB)),
        [own]: mean(executors.map(privateMiB)),
        [masterCpu]: (masterShare / (idleMs / 1000)) * 100,
        [executorCpu]: (executorShare / executors.length / (idleMs / 1000)) * 100,
      };
      job.release();
      await job.finished();
      return sample;
    } finally {
      await job.dispose();
    }
  },
};

function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (cpuSeconds(pid) ?? 0), 0);
}

function mean(values: readonly (number | undefined)[]): number {
  const known = values.filter((value) => value !== undefined);
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}
