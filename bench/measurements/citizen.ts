import { setTimeout as sleep } from "node:timers/promises";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { ClusterStatus } from "../../test/support/cluster.ts";
import { tonyJars } from "../../test/support/peers.ts";
import { BenchJob } from "../bench-job.ts";
import { between, type DaemonCounters, readCounters } from "../daemon-counters.ts";
import { atMost, type FigureDefinition, type Sample } from "../figures.ts";
import type { Measurement } from "../measurement.ts";
import { addNodes } from "../nodes.ts";
import { giveNodesAddresses, TonyJob, takeNodesAddresses } from "../tony/tony-job.ts";

const manyNodes = 3_000;
const fewTasks = 3;
/** How long the job has waited when counting begins. */
const waitedMs = 32_000;
const countedMs = 40_000;
/** How long TonY's tasks run; nobody can tell them to end. */
const taskSeconds = 60;
/**
 * What a job's end still causes: logs are stored and folders removed. Daemons also cache a reading of their counters for this long.
 */
const aftermathMs = 10_000;

const fileOperations = `a job of ${fewTasks} tasks: operations of the NameNode`;
const idleMaster = "running idle: calls of the AM";
const idleClient = "running idle: calls of its client";
const waitingMaster = "waits for containers: calls of the AM";
const waitingClient = "waits for containers: calls of its client";
const unstartedClient = "waits for its AM: calls of its client";
const answer = "an answer to the AM, on average";
const submission = `from submission to start: answers to the client, ${manyNodes} nodes`;
const manyAnswer = `an answer to the AM, on average, ${manyNodes} nodes`;

const ours: readonly FigureDefinition[] = [
  { name: fileOperations, unit: "calls" },
  { name: idleMaster, unit: "calls/min", budget: atMost(61) },
  { name: idleClient, unit: "calls/min", budget: atMost(0) },
  { name: waitingMaster, unit: "calls/min", budget: atMost(60) },
  { name: waitingClient, unit: "calls/min", budget: atMost(6) },
  { name: unstartedClient, unit: "calls/min", budget: atMost(6) },
  { name: answer, unit: "B" },
  { name: submission, unit: "KiB" },
  { name: manyAnswer, unit: "B" },
];

const tonys = (name: string) => `  TonY 0.4.7: ${name}`;

/**
 * What somebody else's cluster would notice of a job, counted by its daemons. TonY's figures are left out where TonY cannot run.
 */
export const citizen: Measurement = {
  name: "citizen",
  what: "what a job asks of ResourceManager and NameNode, by their own metrics",
  warmUps: 0,
  mostRuns: 1,
  figures: ours.flatMap(({ name, unit, budget }) => [
    { name, unit, ...(budget && { budget }) },
    { name: tonys(name), unit },
  ]),
  async run(clusterOf) {
    const cluster = await clusterOf();
    const own = (tasks: number) => new OwnJob(cluster, tasks);
    await wholeJob(own(fewTasks));
    const sample = await fewNodes(cluster, own);
    const theirs = tonysJobs(cluster);
    const tonysSample = await orNone(async () => await fewNodes(cluster, await theirs));
    const removeNodes = await addNodes(cluster, manyNodes);
    try {
      const many = await onManyNodes(cluster, own);
      const tonysMany = await orNone(async () => await onManyNodes(cluster, await theirs));
      return { ...sample, ...many, ...named({ ...tonysSample, ...tonysMany }) };
    } finally {
      await removeNodes();
      await takeNodesAddresses(cluster);
    }
  },
};

/** A job of tony-ts or of TonY, which is only counted. */
interface CountedJob {
  /** Resolves when every task runs. */
  started(): Promise<void>;
  /** Lets it end, and resolves when it has. */
  finished(): Promise<void>;
  submitted(): Promise<unknown>;
  dispose(): Promise<void>;
}

type Submit = (tasks: number) => CountedJob;

class OwnJob implements CountedJob {
  readonly #job: BenchJob;

  constructor(cluster: ClusterStatus, tasks: number) {
    this.#job = new BenchJob(cluster, { tasks });
  }

  submitted = () => this.#job.id();
  dispose = () => this.#job.dispose();

  async started(): Promise<void> {
    await this.#job.started();
  }

  async finished(): Promise<void> {
    this.#job.release();
    await this.#job.finished();
  }
}

async function tonysJobs(cluster: ClusterStatus): Promise<Submit> {
  const jars = await tonyJars(cluster);
  await giveNodesAddresses(cluster);
  return (tasks) => {
    const job = new TonyJob(cluster, { jars, tasks, seconds: taskSeconds });
    return {
      started: () => job.started(tasks),
      finished: () => job.finished(),
      submitted: () => job.id(),
      dispose: () => job.dispose(),
    };
  };
}

/** TonY does not run where there is no Maven, or where this machine may not be given another address. */
async function orNone(measure: () => Promise<Sample>): Promise<Sample> {
  try {
    return await measure();
  } catch (error) {
    console.error(`Figures of TonY are left out: ${errorMessage(error)}`);
    return {};
  }
}

async function wholeJob(job: CountedJob): Promise<void> {
  try {
    await job.started();
    await job.finished();
    await sleep(aftermathMs);
  } finally {
    await job.dispose();
  }
}

async function fewNodes(cluster: ClusterStatus, submit: Submit): Promise<Sample> {
  return {
    ...(await aWholeJob(cluster, submit)),
    ...(await runningIdle(cluster, submit)),
    ...(await waiting(cluster, submit)),
  };
}

async function aWholeJob(cluster: ClusterStatus, submit: Submit): Promise<Sample> {
  const before = await readCounters(cluster);
  await wholeJob(submit(fewTasks));
  return { [fileOperations]: between(before, await readCounters(cluster)).fileOperations };
}

async function runningIdle(cluster: ClusterStatus, submit: Submit): Promise<Sample> {
  const job = submit(fewTasks);
  try {
    await job.started();
    await sleep(5_000);
    const before = await readCounters(cluster);
    const counted = await countedFrom(cluster, before);
    return {
      [idleMaster]: counted.allocates / counted.minutes,
      [idleClient]: counted.clientCalls / counted.minutes,
      [answer]: counted.masterAnswerBytes / counted.allocates,
    };
  } finally {
    await job.dispose();
  }
}

/** Two jobs: the first asks for more than the node has, so that the second's AM finds no room. */
async function waiting(cluster: ClusterStatus, submit: Submit): Promise<Sample> {
  const first = submit(20);
  try {
    await first.submitted();
    await sleep(waitedMs + aftermathMs);
    const alone = await countedFrom(cluster, await readCounters(cluster));
    const second = submit(fewTasks);
    try {
      await second.submitted();
      await sleep(waitedMs);
      const both = await countedFrom(cluster, await readCounters(cluster));
      const ofFirst = alone.clientCalls / alone.minutes;
      return {
        [waitingMaster]: alone.allocates / alone.minutes,
        [waitingClient]: ofFirst,
        [unstartedClient]: both.clientCalls / both.minutes - ofFirst,
      };
    } finally {
      await second.dispose();
    }
  } finally {
    await first.dispose();
  }
}

async function onManyNodes(cluster: ClusterStatus, submit: Submit): Promise<Sample> {
  const before = await readCounters(cluster);
  const job = submit(fewTasks);
  try {
    await job.started();
    await sleep(aftermathMs);
    const counted = between(before, await readCounters(cluster));
    return {
      [submission]: counted.clientAnswerBytes / 1024,
      [manyAnswer]: counted.masterAnswerBytes / counted.allocates,
    };
  } finally {
    await job.dispose();
  }
}

async function countedFrom(cluster: ClusterStatus, before: DaemonCounters): Promise<ReturnType<typeof between>> {
  await sleep(countedMs);
  return between(before, await readCounters(cluster));
}

function named(sample: Sample): Sample {
  return Object.fromEntries(Object.entries(sample).map(([name, value]) => [tonys(name), value]));
}
