import { LONGEST_UNNOTICED_MS } from "../../../src/api/keepalive.ts";
import { nodesFault } from "../causes.ts";
import { type Cut, isReachable, type ModelNode, obeysYarn } from "../node.ts";
import { peersLose } from "../program-ends.ts";
import type { World } from "../world.ts";
import type { Fault } from "./fault.ts";

const PARTITIONED = { deafens: true, freezes: true, severs: true, class: "infrastructure" } as const;

export const PARTITIONS: readonly [Fault, ...Fault[]] = [
  partition("a node is cut off", { whole: true, inward: true, outward: true }),
  partition("a node is cut off from the ApplicationMaster", { inward: true, outward: true }),
  partition("a node is cut off from the ApplicationMaster and its NodeManager stands still", {
    unmanaged: true,
    inward: true,
    outward: true,
  }),
];

/** Long enough that programs are suspended, and too short for all executors to be counted as lost: they are silent together. */
export const OUTAGE: Fault = {
  name: "a switch restarts and cuts off all nodes",
  ...PARTITIONED,
  strike: (world) => {
    const durationMs = world.random.integer(31, 60) * 1000;
    world.trace("! all nodes are cut off");
    for (const node of world.cluster.nodes.filter(({ alive, cut }) => alive && cut === undefined)) {
      cutOff(world, node, { whole: true, inward: true, outward: true }, durationMs);
    }
  },
};

/** Faults that few networks have. */
export const RARE_PARTITIONS: readonly Fault[] = [
  partition("what a node says to the ApplicationMaster is lost", { inward: false, outward: true }),
  partition("what the ApplicationMaster says to a node is lost", { inward: true, outward: false }),
  {
    name: "a rack is cut off",
    ...PARTITIONED,
    strike: (world) => {
      const cut = { whole: true, inward: true, outward: true } as const;
      const durationMs = world.random.integer(1, 120) * 1000;
      const whole = world.cluster.nodes.filter((node) => node.alive && node.cut === undefined);
      for (const node of whole.filter(({ rack }) => rack === "/rack1")) {
        cutOff(world, node, cut, durationMs);
      }
    },
  },
];

/**
 * A switch between two halves fails: on one side are the ApplicationMaster and some nodes, on the other side all services and the other
 * nodes.
 */
export const MASTER_CUT: Fault = {
  name: "the ApplicationMaster is cut off with some of the nodes",
  ...PARTITIONED,
  recovers: true,
  strike: (world) => {
    const { random, attempts, cluster, master } = world;
    world.masterExpiryMs = random.integer(10, 60) * 1000;
    const durationMs = random.integer(1, 240) * 1000;
    for (const node of cluster.nodes.filter(({ alive, cut }) => alive && cut === undefined)) {
      const { attempt } = master;
      const near: Cut = { whole: true, inward: true, outward: true, beside: attempt };
      const far: Cut = { inward: true, outward: true, apartFrom: attempt };
      cutOff(world, node, random.chance(0.5) ? near : far, durationMs);
    }
    attempts.cutOff(durationMs);
  },
};

function partition(name: string, cut: Cut): Fault {
  return {
    name,
    ...PARTITIONED,
    strike: (world) => {
      const whole = world.cluster.nodes.filter(({ alive, cut: other }) => alive && other === undefined);
      const node = world.random.any(whole);
      if (node !== undefined && whole.length >= 3) {
        world.trace(`! ${name}: ${node.host}`);
        cutOff(world, node, cut, world.random.integer(1, 120) * 1000);
      }
    },
  };
}

/** Cuts some of a node's connections for a while. Nobody is told: each side finds out by waiting. */
function cutOff(world: World, node: ModelNode, cut: Cut, durationMs: number): void {
  const { clock, random, cluster } = world;
  node.cut = cut;
  nodesFault(world, node, false);
  const there = () => [...world.executors.values()].filter(({ container, alive }) => alive && container.node === node);
  for (const executor of there()) {
    executor.wasCut = true;
    clock.after(random.integer(10_000, 60_000), () => {
      if (node.cut !== undefined && executor.hasProgram) {
        peersLose(world, executor, "severed");
      }
    });
    clock.after(random.integer(0, LONGEST_UNNOTICED_MS), () => {
      if (node.cut !== undefined && !isReachable(node, world.master.attempt)) {
        executor.connection.pingsUnanswered();
      }
    });
    if (random.chance(0.5)) {
      clock.after(random.integer(0, 10_000), () => executor.connection.break());
    }
  }
  const expiryMs = random.integer(10_000, 60_000);
  if (!obeysYarn(node) && expiryMs < durationMs) {
    clock.after(expiryMs, () => cluster.loseNode(node));
  }
  clock.after(durationMs, () => {
    node.cut = undefined;
    node.alive = !node.hasCrashed;
    for (const executor of there()) {
      const wasReachable = cut.apartFrom !== undefined && cut.apartFrom !== world.master.attempt;
      if (executor.container.state === "complete") {
        executor.die();
      } else if (!wasReachable) {
        executor.connection.break();
      }
    }
  });
}
