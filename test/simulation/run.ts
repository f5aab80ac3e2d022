import type { JobOutcome } from "../../src/job/status.ts";
import { VirtualClock } from "./clock.ts";
import { Cluster } from "./cluster.ts";
import { drawsOf } from "./draws.ts";
import { namedFaults, randomFaults, strikeInTime } from "./faults/choose.ts";
import { fillCluster } from "./faults/cluster.ts";
import { HANG } from "./faults/programs.ts";
import {
  asSearch,
  inStages,
  onLabelledNodes,
  perhapsByOptuna,
  randomJob,
  reportingSteps,
  widen,
  withElasticWorkers,
  withOwnBudgets,
} from "./job.ts";
import { judge } from "./judge.ts";
import type { PlantedFaultOptions } from "./planted-faults.ts";
import { randomWeather } from "./weather.ts";
import { World, type WorldOptions } from "./world.ts";

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

const LABEL = "gpu";
const NODE_MIB = 16_384;
const LIMIT_MS = 4 * 3_600_000;

export interface RunOptions extends PlantedFaultOptions, Pick<WorldOptions, "trace"> {
  /** The names of the faults that strike, instead of those that the seed would choose. */
  readonly faults?: readonly string[];
  /** Whether the job is a search, whatever the seed would choose. */
  readonly searches?: boolean;
}

/**
 * The problems of one seed after another, until one of them matches `noticed`, or after 400 seeds.
 * @param firstSeed where the first seeds do not show a fault, the one that does
 */
export async function problemsUntil(noticed: RegExp, options: RunOptions, firstSeed = 1): Promise<readonly string[]> {
  const problems: string[] = [];
  for (let seed = firstSeed; seed < firstSeed + 400 && !problems.some((problem) => noticed.test(problem)); seed++) {
    problems.push(...(await runSeed(seed, options)).problems);
  }
  return problems;
}

/** One whole job in a random world: the seed decides everything. */
export async function runSeed(seed: number, options: RunOptions = {}): Promise<RunResult> {
  const draws = drawsOf(seed);
  const { main: random, aside, wider, rarer, staged, labelled } = draws;
  const { faults: named } = options;
  const reportsSteps = named === undefined ? aside.chance(0.1) : named.includes(HANG.name);
  const plain = randomJob(random);
  const whole = inStages(widen(reportsSteps ? reportingSteps(plain, aside) : plain, wider), staged);
  const budgeted = withOwnBudgets(withElasticWorkers(whole, draws.elastic), draws.budgets);
  const searched = asSearch(budgeted, draws.searched, options.searches === true ? 1 : undefined);
  const unlabelled = perhapsByOptuna(searched, draws.asked);
  const isKind = random.chance(0.25);
  const runsForMs = random.integer(5, 120) * 1000;
  const nodes = random.integer(2, 6);
  const hasLabel = nodes >= 4 && labelled.chance(0.1);
  const spec = hasLabel ? onLabelledNodes(unlabelled, LABEL, labelled) : unlabelled;
  const endless = spec.roles.filter(({ tracking }) => tracking !== "tracked").map(({ name }) => name);
  const attempts = rarer.chance(0.05) ? rarer.integer(1, 3) : Number.POSITIVE_INFINITY;
  const weather = randomWeather(draws, isKind);
  const clock = new VirtualClock();
  const world = new World({
    spec,
    clock,
    random,
    cluster: new Cluster(clock, random, {
      nodes,
      label: hasLabel ? LABEL : "",
      capacityMiB: NODE_MIB,
      skewMs: weather.skewMs,
    }),
    weather,
    attempts,
    programs: (task) => (endless.some((name) => task.startsWith(`${name}:`)) ? {} : { runsForMs }),
    optunaSeed: seed,
    doubled: options.mutation === undefined && seed % 32 === 0,
    ...options,
  });
  const chosen = isKind ? [] : randomFaults(draws, reportsSteps);
  const faults = named === undefined ? chosen : namedFaults(named);
  world.journal.isKept = faults.some(({ recovers }) => recovers === true) || weather.lostAnswers > 0;
  strikeInTime(world, faults, runsForMs);
  if (!isKind && random.chance(0.1)) {
    fillCluster(world);
  }
  const startedAtMs = clock.nowMs;
  world.start();
  await runUntilOver(clock, [world], LIMIT_MS);
  return {
    seed,
    problems: [...world.problems, ...judge(world, faults)],
    steps: world.steps,
    faults: faults.map(({ name }) => name),
    outcome: world.outcome,
    generations: world.core.state.gangs.flatMap(({ generations }) => generations).length,
    virtualMs: clock.nowMs - startedAtMs,
  };
}

/** Runs jobs side by side until all have ended, nothing happens any more, or the time is up. */
export async function runUntilOver(clock: VirtualClock, worlds: readonly World[], limitMs: number): Promise<void> {
  const endMs = clock.nowMs + limitMs;
  while (worlds.some(({ isOver }) => !isOver) && clock.nowMs < endMs && clock.advance()) {
    for (const world of worlds) {
      if (world.isSettling) await world.settle();
    }
  }
}
