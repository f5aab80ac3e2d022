import type { JobSpec } from "../../src/job/spec.ts";
import { VirtualClock } from "./clock.ts";
import { Cluster } from "./cluster.ts";
import { faultsOfOneJob, strikeInTime } from "./faults/choose.ts";
import { jobSpec, role } from "./job.ts";
import { judge } from "./judge.ts";
import { Random } from "./random.ts";
import { runUntilOver } from "./run.ts";
import { FINE } from "./weather.ts";
import { World } from "./world.ts";

const NODES = 4;
const NODE_SLOTS = 4;
const SLOT_MIB = 1_024;
const LIMIT_MS = 4 * 3_600_000;

export interface RivalsResult {
  readonly problems: readonly string[];
  readonly holdMs: number;
  /** From the submissions to the start of the first one's programs. */
  readonly firstWaitedMs: number;
  /** From the end of the first job to the start of the other's programs. */
  readonly secondWaitedMs: number;
}

export interface RivalsOptions {
  /** Each job meets faults of its own. */
  readonly areStruck?: boolean;
}

/** Two jobs, each of which needs more than half of one cluster: only one of them can run at a time. */
export async function runRivals(seed: number, { areStruck = false }: RivalsOptions = {}): Promise<RivalsResult> {
  const random = new Random(seed);
  const clock = new VirtualClock();
  const cluster = new Cluster(clock, random, { nodes: NODES, capacityMiB: NODE_SLOTS * SLOT_MIB });
  const holdMs = random.integer(5, 300) * 1_000;
  const begunAtMs = clock.nowMs;
  const jobs = ["application_1_0001", "application_1_0002"].map((applicationId) => {
    const startsAtMs: number[] = [];
    const runsForMs = random.integer(5, 600) * 1_000;
    const programs = () => {
      startsAtMs.push(clock.nowMs);
      return { runsForMs };
    };
    const spec = moreThanHalf(random, holdMs);
    const faults = areStruck ? faultsOfOneJob(random) : [];
    const shared = { clock, random, cluster, weather: FINE, attempts: Number.POSITIVE_INFINITY };
    const world = new World({ ...shared, applicationId, spec, programs });
    world.journal.isKept = areStruck;
    clock.after(random.integer(0, 3_000), () => world.start());
    strikeInTime(world, faults, holdMs + runsForMs);
    return { world, startsAtMs, faults };
  });
  const worlds = jobs.map(({ world }) => world);
  await runUntilOver(clock, worlds, LIMIT_MS);
  const [first, second] = jobs.map(({ startsAtMs }) => Math.min(...startsAtMs)).sort((a, b) => a - b);
  const firstEndMs = Math.min(...worlds.map(({ outcome }) => outcome?.endedAtMs ?? Number.POSITIVE_INFINITY));
  return {
    problems: jobs.flatMap(({ world, faults }) => [...world.problems, ...judge(world, faults)]),
    holdMs,
    firstWaitedMs: (first ?? Number.POSITIVE_INFINITY) - begunAtMs,
    secondWaitedMs: (second ?? Number.POSITIVE_INFINITY) - firstEndMs,
  };
}

function moreThanHalf(random: Random, gangHoldMs: number): JobSpec {
  const slots = NODES * NODE_SLOTS;
  const spec = jobSpec([role("worker", random.integer(slots / 2 + 1, slots))]);
  return { ...spec, timeouts: { ...spec.timeouts, gangHoldMs } };
}
