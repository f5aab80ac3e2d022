import { LONGEST_STOP_MS } from "../node-service.ts";
import type { World } from "../world.ts";
import type { Fault } from "./fault.ts";

/** Faults of the services that a job uses. */
export const CLUSTER_FAULTS: readonly Fault[] = [
  {
    name: "the journal cannot be written",
    closesStaging: true,
    strike: (world) => {
      world.journal.isDown = true;
      world.clock.after(world.random.integer(1_000, 60_000), () => {
        world.journal.isDown = false;
      });
    },
  },
  {
    name: "the ResourceManager restarts",
    strike: (world) => {
      restartResourceManager(world, world.random.integer(0, 8_000));
    },
  },
  {
    name: "other jobs fill the cluster",
    strike: fillCluster,
  },
];

export const RESOURCE_MANAGER_AWAY: Fault = {
  name: "the ResourceManager is away",
  strike: (world) => restartResourceManager(world, world.random.integer(10, 180) * 1000),
};

/** Faults that few clusters see. */
export const RARE_CLUSTER_FAULTS: readonly Fault[] = [
  RESOURCE_MANAGER_AWAY,
  {
    name: "a NodeManager restarts",
    class: "infrastructure",
    strike: (world) => {
      const node = world.random.any(world.cluster.nodes);
      if (node !== undefined) {
        node.isUnmanaged = true;
        world.clock.after(world.random.integer(2_000, 30_000), () => {
          node.isUnmanaged = false;
          node.managedAgainAtMs = world.clock.nowMs;
        });
      }
    },
  },
  {
    name: "a NodeManager is slow",
    strike: (world) => {
      const node = world.random.any(world.cluster.nodes);
      if (node !== undefined) {
        node.slowMs = world.random.integer(1_000, 30_000);
        world.clock.after(world.random.integer(10_000, 120_000), () => {
          node.slowUntilMs = world.clock.nowMs + node.slowMs + LONGEST_STOP_MS;
          node.slowMs = 0;
        });
      }
    },
  },
  {
    name: "a machine's clock jumps",
    strike: (world) => {
      for (const node of world.cluster.nodes) {
        node.skewMs += world.random.integer(-3_600_000, 3_600_000);
      }
    },
  },
];

/** Nobody answers for a while; then the ResourceManager has forgotten what all attempts asked for. */
function restartResourceManager(world: World, outageMs: number): void {
  const { cluster, clock } = world;
  cluster.goDown();
  clock.after(outageMs, () => cluster.comeBack());
}

/** Other jobs take the free memory, most of it for a while. */
export function fillCluster(world: World): void {
  const untilMs = world.random.integer(10, 1_200) * 1000;
  for (const node of world.cluster.nodes) {
    const takenMiB = Math.floor((node.capacityMiB - node.usedMiB) * world.random.pick([1, 1, 0.9, 0.5]));
    node.usedMiB += takenMiB;
    world.clock.after(world.random.integer(1_000, untilMs), () => {
      node.usedMiB -= takenMiB;
    });
  }
}
