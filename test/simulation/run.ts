import type { JobOutcome } from "../../src/job/status.ts";
import { FAULTS, fillCluster, HANG } from "./faults.ts";
import { randomJob, reportingSteps } from "./job.ts";
import { judge } from "./judge.ts";
import { Random } from "./random.ts";
import { type Mutation, World } from "./world.ts";

export interface RunResult {
  readonly seed: number;
  /** What went wrong; empty when nothing did. */
  readonly problems: readonly string[];
  readonly steps: number;
  readonly faults: readonly string[];
  readonly outcome: JobOutcome | undefined;
  readonly generations: number;
  readonly virtualMs: number;
}

const LIMIT_MS = 4 * 3_600_000;

export interface RunOptions {
  readonly trace?: (line: string) => void;
  readonly mutation?: Mutation;
  readonly fenced?: boolean;
  /** What goes wrong, by name, instead of what the seed would choose. */
  readonly faults?: readonly string[];
}

/** One whole job in a random world: everything follows from the seed. */
export function runSeed(seed: number, options: RunOptions = {}): RunResult {
  const random = new Random(seed);
  // Drawn apart, so that a job that reports no steps lives the life its seed always gave it.
  const aside = new Random(~seed);
  const { faults: named } = options;
  const reportsSteps = named === undefined ? aside.chance(0.1) : named.includes(HANG.name);
  const plain = randomJob(random);
  const spec = reportsSteps ? reportingSteps(plain, aside) : plain;
  const kind = random.chance(0.25);
  const runsForMs = random.integer(5, 120) * 1000;
  const world = new World({
    spec,
    random,
    nodes: random.integer(2, 6),
    nodeCapacityMiB: 16_384,
    weather: {
      duplicates: kind ? 0 : 0.05,
      surplus: kind ? 0 : 0.1,
      launchFailures: kind || random.chance(0.8) ? 0 : 0.05,
      completionDelayMs: random.integer(0, 5_000),
    },
    programs: (task) => (/^(ps|tensorboard)/.test(task) ? {} : { runsForMs }),
    ...options,
  });
  const chosen = kind ? [] : Array.from({ length: random.integer(0, 4) }, () => random.pick(FAULTS));
  const hangs = reportsSteps && !kind ? Array.from({ length: aside.integer(1, 2) }, () => HANG) : [];
  const faults = [...(named === undefined ? chosen : FAULTS.filter(({ name }) => named.includes(name))), ...hangs];
  world.mayCrash = faults.some(({ recovers }) => recovers === true);
  for (const fault of faults) {
    const atMs = random.chance(0.5) ? random.integer(0, runsForMs) : random.integer(0, 10_000);
    world.clock.after(atMs, () => {
      world.trace(`! ${fault.name}`);
      fault.strike(world);
    });
  }
  if (!kind && random.chance(0.1)) {
    fillCluster(world);
  }
  const startedAtMs = world.clock.nowMs;
  world.start();
  world.run(LIMIT_MS);
  return {
    seed,
    problems: [...world.problems, ...judge(world, faults)],
    steps: world.steps,
    faults: faults.map(({ name }) => name),
    outcome: world.outcome,
    generations: world.core.state.generations.length,
    virtualMs: world.clock.nowMs - startedAtMs,
  };
}
