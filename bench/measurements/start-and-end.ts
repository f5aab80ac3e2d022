import { submittedAtMs } from "../application.ts";
import { BenchJob } from "../bench-job.ts";
import { atMost, type FigureDefinition } from "../figures.ts";
import type { Measurement } from "../measurement.ts";

const submission = "client: process start → application submitted";
const clientMemory = "client: peak memory, followed to the end";
const start = "submitted → every program running";
const end = "last program's end → client exits";

const clientFigures: readonly FigureDefinition[] = [
  { name: submission, unit: "ms", budget: atMost(400) },
  { name: clientMemory, unit: "MiB", budget: atMost(80) },
];

/** One job from the client's start to its end. The uncounted run has put the archives into the caches. */
function startAndEnd(about: {
  readonly name: string;
  readonly what: string;
  readonly tasks: number;
  readonly startLimitMs: number;
}): Measurement {
  return {
    name: about.name,
    what: about.what,
    warmUps: 1,
    figures: [
      ...clientFigures,
      { name: start, unit: "ms", budget: atMost(about.startLimitMs) },
      { name: end, unit: "ms", budget: atMost(800) },
    ],
    async run(clusterOf) {
      const cluster = await clusterOf();
      const job = new BenchJob(cluster, { tasks: about.tasks });
      try {
        const id = await job.id();
        const startedAtMs = await job.started();
        job.release();
        const client = await job.finished();
        const takenAtMs = await submittedAtMs(cluster, id);
        return {
          [submission]: takenAtMs - job.spawnedAtMs,
          [clientMemory]: client.peakMiB,
          [start]: startedAtMs - takenAtMs,
          [end]: client.atMs - job.lastEndedAtMs(),
        };
      } finally {
        await job.dispose();
      }
    },
  };
}

export const threeTasks = startAndEnd({
  name: "job",
  what: "a job of 3 tasks, archives cached, NodeManager's heartbeat 1 s",
  tasks: 3,
  startLimitMs: 2_700,
});

export const thirteenTasks = startAndEnd({
  name: "gang",
  what: "a job of 13 small containers on one node",
  tasks: 13,
  startLimitMs: 4_000,
});
