import type { Draws } from "../draws.ts";
import type { Random } from "../random.ts";
import type { World } from "../world.ts";
import { CLUSTER_FAULTS, RARE_CLUSTER_FAULTS, RESOURCE_MANAGER_AWAY } from "./cluster.ts";
import { CONTAINER_FAULTS } from "./containers.ts";
import { DECOMMISSIONING } from "./decommissioning.ts";
import type { Fault } from "./fault.ts";
import { CLIENT_STOPS, MASTER_FAULTS } from "./master.ts";
import { MASTER_CUT, OUTAGE, PARTITIONS, RARE_PARTITIONS } from "./partitions.ts";
import { EARLY_EXIT, HANG, PROGRAM_FAULTS } from "./programs.ts";

const COMMON: readonly [Fault, ...Fault[]] = [
  ...PROGRAM_FAULTS,
  ...CONTAINER_FAULTS,
  ...MASTER_FAULTS,
  ...CLUSTER_FAULTS,
  CLIENT_STOPS,
];
const RARE: readonly Fault[] = [...RARE_PARTITIONS, ...RARE_CLUSTER_FAULTS];
const ALL: readonly Fault[] = [
  ...COMMON,
  ...PARTITIONS,
  ...RARE,
  OUTAGE,
  MASTER_CUT,
  HANG,
  EARLY_EXIT,
  DECOMMISSIONING,
];

/** The faults with these names. */
export function namedFaults(names: readonly string[]): readonly Fault[] {
  return ALL.filter(({ name }) => names.includes(name));
}

/** The faults of a seed's life: none, one or several. */
export function randomFaults(
  { main, aside, wider, rarer, outages, leaving, halves }: Draws,
  reportsSteps: boolean,
): readonly Fault[] {
  const common = Array.from({ length: main.integer(0, 4) }, () => main.pick(COMMON));
  const partition = wider.chance(0.2) ? wider.any(PARTITIONS) : undefined;
  const hangs = reportsSteps ? Array.from({ length: aside.integer(1, 2) }, () => HANG) : [];
  const early = aside.chance(0.1) ? EARLY_EXIT : undefined;
  const rare = rarer.chance(0.2) ? rarer.any(RARE) : undefined;
  const outage = outages.chance(0.03) ? OUTAGE : undefined;
  const departure = leaving.chance(0.1) ? DECOMMISSIONING : undefined;
  const masterCut = halves.chance(0.03) ? MASTER_CUT : undefined;
  const rarest = [outage, departure, masterCut];
  return [...common, ...hangs, partition, rare, early, ...rarest].filter((fault) => fault !== undefined);
}

/** Faults for one of several jobs on a cluster, which concern no other job's programs, nodes or budgets. */
export function faultsOfOneJob(random: Random): readonly Fault[] {
  const possible = [...PROGRAM_FAULTS, ...CONTAINER_FAULTS, ...MASTER_FAULTS, ...CLUSTER_FAULTS, RESOURCE_MANAGER_AWAY];
  const own = possible.filter(({ concernsNodes }) => concernsNodes !== true);
  return Array.from({ length: random.integer(1, 3) }, () => random.any(own)).filter((fault) => fault !== undefined);
}

/** Each fault strikes once; half of them strike while the job begins. */
export function strikeInTime(world: World, faults: readonly Fault[], runsForMs: number): void {
  const { clock, random } = world;
  for (const fault of faults) {
    const atMs = random.chance(0.5) ? random.integer(0, runsForMs) : random.integer(0, 10_000);
    clock.after(atMs, () => {
      world.trace(`! ${fault.name}`);
      fault.strike(world);
    });
  }
}
