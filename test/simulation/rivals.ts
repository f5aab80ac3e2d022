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

/** The longest pause before a gang asks again; it differs from job to job. */
const LONGEST_PAUSE_MS = 450_000;
/** How long launches, registrations and YARN's heartbeats take. */
const GATHERING_MS = 30_000;

export interface RivalsOptions {
  /** Whether faults strike each of the jobs. */
  readonly areStruck?: boolean;
}

/**
 * Two jobs that each need more than half of one cluster, so that only one of them can run at a time. @returns what went wrong
 */
export async function runRivals(seed: number, { areStruck = false }: RivalsOptions = {}): Promise<readonly string[]> {
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
  const problems = jobs.flatMap(({ world, faults }) => [...world.problems, ...judge(world, faults)]);
  if (areStruck) return problems;
  const [first = Number.POSITIVE_INFINITY, second = Number.POSITIVE_INFINITY] = jobs
    .map(({ startsAtMs }) => Math.min(...startsAtMs))
    .sort((a, b) => a - b);
  const firstEndMs = Math.min(...worlds.map(({ outcome }) => outcome?.endedAtMs ?? Number.POSITIVE_INFINITY));
  if (first - begunAtMs > 2 * (holdMs + LONGEST_PAUSE_MS)) {
    problems.push(`none of them could start for ${first - begunAtMs} ms, with a hold of ${holdMs} ms`);
  }
  if (second - firstEndMs > LONGEST_PAUSE_MS + GATHERING_MS) {
    problems.push(`the second started ${second - firstEndMs} ms after the end of the first`);
  }
  return problems;
}

function moreThanHalf(random: Random, gangHoldMs: number): JobSpec {
  const slots = NODES * NODE_SLOTS;
  const spec = jobSpec([role("worker", random.integer(slots / 2 + 1, slots))]);
  return { ...spec, timeouts: { ...spec.timeouts, gangHoldMs } };
}
