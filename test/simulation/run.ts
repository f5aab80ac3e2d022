import type { JobOutcome } from "../../src/job/status.ts";
import { EARLY_EXIT, FAULTS, fillCluster, HANG, RARE_FAULTS, WIDE_FAULTS } from "./faults.ts";
import { randomJob, reportingSteps, widen } from "./job.ts";
import { judge } from "./judge.ts";
import { Random } from "./random.ts";
import { FINE, type Weather } from "./weather.ts";
import { type ExecutorFault, type Mutation, World } from "./world.ts";

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
  readonly executorFault?: ExecutorFault;
  /** What goes wrong, by name, instead of what the seed would choose. */
  readonly faults?: readonly string[];
  /** Default true; false: the world of the pinned seeds, which fewer things happen in. */
  readonly wide?: boolean;
}

/** One whole job in a random world: everything follows from the seed. */
export async function runSeed(seed: number, options: RunOptions = {}): Promise<RunResult> {
  const random = new Random(seed);
  // Drawn apart, so that a job that reports no steps lives the life its seed always gave it.
  const aside = new Random(~seed);
  const wider = options.wide === false ? undefined : new Random(seed ^ 0x5bd1e995);
  const rarer = options.wide === false ? undefined : new Random(seed ^ 0x2545f491);
  const { faults: named } = options;
  const reportsSteps = named === undefined ? aside.chance(0.1) : named.includes(HANG.name);
  const plain = randomJob(random);
  const narrow = reportsSteps ? reportingSteps(plain, aside) : plain;
  const spec = wider === undefined ? narrow : widen(narrow, wider);
  const kind = random.chance(0.25);
  const runsForMs = random.integer(5, 120) * 1000;
  const endless = spec.roles.filter(({ tracking }) => tracking !== "tracked").map(({ name }) => name);
  const world = new World({
    spec,
    random,
    nodes: random.integer(2, 6),
    nodeCapacityMiB: 16_384,
    attempts: rarer?.chance(0.05) === true ? rarer.integer(1, 3) : Number.POSITIVE_INFINITY,
    weather: {
      ...FINE,
      duplicates: kind ? 0 : 0.05,
      surplus: kind ? 0 : 0.1,
      launchFailures: kind || random.chance(0.8) ? 0 : 0.05,
      completionDelayMs: random.integer(0, 5_000),
      lostNodeAnswers: kind || wider?.chance(0.1) !== true ? 0 : 0.1,
      ...(rarer === undefined || kind ? {} : rareWeather(rarer)),
      goodStops: wider?.chance(0.3) === true ? 0.5 : 0,
    },
    programs: (task) => (endless.some((name) => task.startsWith(`${name}:`)) ? {} : { runsForMs }),
    doubled: options.mutation === undefined && seed % 32 === 0,
    ...options,
  });
  const chosen = kind ? [] : Array.from({ length: random.integer(0, 4) }, () => random.pick(FAULTS));
  const further =
    wider !== undefined && !kind && named === undefined && wider.chance(0.2) ? [wider.pick(WIDE_FAULTS)] : [];
  const hangs = reportsSteps && !kind ? Array.from({ length: aside.integer(1, 2) }, () => HANG) : [];
  const leavesEarly = named === undefined ? aside.chance(0.1) : named.includes(EARLY_EXIT.name);
  const rare =
    rarer !== undefined && !kind && named === undefined && rarer.chance(0.2) ? [rarer.pick(RARE_FAULTS)] : [];
  const all = [...FAULTS, ...WIDE_FAULTS, ...RARE_FAULTS];
  const faults = [
    ...(named === undefined ? chosen : all.filter(({ name }) => named.includes(name))),
    ...hangs,
    ...further,
    ...rare,
    ...(leavesEarly && !kind ? [EARLY_EXIT] : []),
  ];
  world.journal.isKept = faults.some(({ recovers }) => recovers === true) || world.faults.lostAnswers > 0;
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
  await world.run(LIMIT_MS);
  return {
    seed,
    problems: [...world.problems, ...judge(world, faults)],
    steps: world.steps,
    faults: faults.map(({ name }) => name),
    outcome: world.outcome,
    generations: world.core.state.gangs.flatMap(({ generations }) => generations).length,
    virtualMs: world.clock.nowMs - startedAtMs,
  };
}

/** What few networks and machines do, each now and then. */
function rareWeather(random: Random): Partial<Weather> {
  const rarely = (value: number): number => (random.chance(0.1) ? value : 0);
  return {
    lostAnswers: rarely(0.1),
    lostJournalAnswers: rarely(0.1),
    failedDials: rarely(0.5),
    skewMs: rarely(random.pick([1_000, 60_000, 3_600_000])),
  };
}
