import type { FailureClass, JobOutcome } from "../../src/job/status.ts";
import { FAULTS, type Fault, fillCluster } from "./faults.ts";
import { randomJob } from "./job.ts";
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
  const spec = randomJob(random);
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
  const { faults: named } = options;
  const faults = named === undefined ? chosen : FAULTS.filter(({ name }) => named.includes(name));
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

/** What must be true of the end, given what was done to the job. */
function judge(world: World, faults: readonly Fault[]): string[] {
  const { state } = world.core;
  if (world.problems.length > 0) {
    return [];
  }
  if (!world.exited) {
    return [`the job never ended: it is ${state.phase}, ${JSON.stringify(state.roles.map(({ counts }) => counts))}`];
  }
  // What was being judged when somebody stopped the job stays half judged.
  if (world.outcome?.result === "killed") {
    return [];
  }
  const problems: string[] = [];
  const programFaults = faults.filter((fault) => fault.class === "program").length + world.overTime;
  const limited = world.spec.timeouts.executionMs !== undefined;
  // What was still being judged when the outcome was decided stays charged as it was: nothing hangs on it any more.
  const unsettled = state.verdicts.flatMap(({ charged }) => charged ?? []);
  const counted = (of: FailureClass) => state.used[of] - unsettled.filter((charged) => charged === of).length;
  if (counted("program") > programFaults) {
    problems.push(`${counted("program")} program failures are counted, ${programFaults} happened`);
  }
  const onlyPrograms = faults.every((fault) => fault.class === "program") && world.faults.launchFailures === 0;
  if (onlyPrograms && counted("infrastructure") > 0) {
    problems.push(`${counted("infrastructure")} failures are put down to the infrastructure, which did not fail`);
  }
  const harmless = faults.every((fault) => fault.class === undefined && fault.ends === undefined);
  const bounded = limited || world.spec.timeouts.applicationMs !== undefined || world.faults.launchFailures > 0;
  if (harmless && !bounded && world.outcome?.result !== "succeeded") {
    problems.push(`nothing bad happened, and the job ${world.outcome?.result}: ${world.outcome?.summary}`);
  }
  const again = [...world.starts].filter(([, starts]) => starts > 1);
  const mayLoseExecutor = faults.some(({ freezes }) => freezes === true);
  if (harmless && !bounded && !mayLoseExecutor && again.length > 0) {
    problems.push(`nothing bad happened, and programs started more than once: ${JSON.stringify(again)}`);
  }
  return problems;
}
