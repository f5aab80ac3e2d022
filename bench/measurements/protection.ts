import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/programs.ts";
import { type ClusterStatus, ClusterUser, environmentFor } from "../../test/support/cluster.ts";
import { BenchJob } from "../bench-job.ts";
import type { CallsAndBytes } from "../calls-and-bytes.ts";
import { type Guard, guards } from "../cluster.ts";
import type { Sample, Unit } from "../figures.ts";
import type { Measurement } from "../measurement.ts";
import { javaReportCalls } from "../report-calls.ts";

const run = promisify(execFile);

/** What is measured on each cluster. */
const costs = {
  firstCall: { name: "a process's first call", unit: "ms" },
  calls: { name: "calls, 32 in flight", unit: "calls/s" },
  javaCalls: { name: "the same by Java's YarnClient", unit: "calls/s" },
  upload: { name: "upload of 300 MB", unit: "MiB/s" },
  submission: { name: "client's start → its id is told", unit: "ms" },
  start: { name: "client's start → 3 programs run", unit: "ms" },
  end: { name: "last program's end → client exits", unit: "ms" },
  clientMemory: { name: "client's peak memory", unit: "MiB" },
} as const satisfies Record<string, { readonly name: string; readonly unit: Unit }>;
type Cost = keyof typeof costs;
type Costs = Readonly<Record<Cost, number>>;
const costNames = Object.keys(costs).filter((name): name is Cost => name in costs);

const guarded = guards.filter((guard) => guard !== "open");
const figureName = (cost: Cost, guard: Guard) => `${costs[cost].name}, ${guard}`;
const ratioName = (cost: Cost, guard: Guard) => `${costs[cost].name}, ${guard} ÷ open`;

/** Each run measures every cluster in turn, so that a busy minute does not spoil a ratio. */
export const protection: Measurement = {
  name: "protection",
  what: "what Kerberos, HTTPS and each protection of RPC cost beside an open cluster (as root)",
  warmUps: 1,
  mostRuns: 3,
  figures: costNames.flatMap((cost) => [
    ...guards.map((guard) => ({ name: figureName(cost, guard), unit: costs[cost].unit })),
    ...guarded.map((guard) => ({ name: ratioName(cost, guard), unit: "×" as const })),
  ]),
  async run(clusterOf) {
    const open = await costsOn(await clusterOf("open"));
    let sample = valuesOf("open", open);
    for (const guard of guarded) {
      const costsHere = await costsOn(await clusterOf(guard));
      sample = { ...sample, ...valuesOf(guard, costsHere), ...ratiosOf(guard, costsHere, open) };
    }
    return sample;
  },
};

async function costsOn(cluster: ClusterStatus): Promise<Costs> {
  const own = await callsAndBytes(cluster);
  return {
    firstCall: own.firstCallMs,
    calls: own.callsPerSecond,
    javaCalls: await javaReportCalls(cluster, own.applicationId),
    upload: own.uploadMiBPerSecond,
    ...(await aJob(cluster)),
  };
}

async function callsAndBytes(cluster: ClusterStatus): Promise<CallsAndBytes> {
  const program = path.join(packageRoot(), "dist", "bench", "calls-and-bytes.mjs");
  const environment = { ...process.env, ...environmentFor(cluster, ClusterUser.alice) };
  const { stdout } = await run(process.execPath, [program], { env: environment });
  return JSON.parse(stdout);
}

async function aJob(cluster: ClusterStatus): Promise<Pick<Costs, "submission" | "start" | "end" | "clientMemory">> {
  // Only the bench's own data travels in clear where there is no privacy.
  const job = new BenchJob(cluster, { tasks: 3, settings: { "tony.security.allow-cleartext": "true" } });
  try {
    await job.id();
    const submission = Date.now() - job.spawnedAtMs;
    const start = (await job.started()) - job.spawnedAtMs;
    job.release();
    const client = await job.finished();
    return { submission, start, end: client.atMs - job.lastEndedAtMs(), clientMemory: client.peakMiB };
  } finally {
    await job.dispose();
  }
}

function valuesOf(guard: Guard, values: Costs): Sample {
  return Object.fromEntries(costNames.map((cost) => [figureName(cost, guard), values[cost]]));
}

function ratiosOf(guard: Guard, values: Costs, open: Costs): Sample {
  return Object.fromEntries(costNames.map((cost) => [ratioName(cost, guard), values[cost] / open[cost]]));
}
