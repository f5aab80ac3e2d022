import type { FailureClass } from "../../src/job/status.ts";
import type { ExecutorModel } from "./executor-model.ts";
import { cutOff } from "./partition.ts";
import type { World } from "./world.ts";
import type { Cut } from "./yarn.ts";

/** Something that goes wrong once. `class`: the budget it may spend; absent: none at all. */
export interface Fault {
  readonly name: string;
  readonly class?: FailureClass;
  /** No budget pays for it. */
  readonly isFree?: true;
  /** It may rightly end the job. */
  readonly ends?: true;
  /** An executor that cannot come back in time, when its stream breaks meanwhile. */
  readonly freezes?: true;
  /** The ApplicationMaster and an executor hear each other late. */
  readonly deafens?: true;
  /** Programs lose their connections to others that live on: nothing tells such a failure from one of their own. */
  readonly severs?: true;
  /** YARN's word may come when nobody waits for it any more. */
  readonly mutes?: true;
  /** HDFS is away. */
  readonly closesStaging?: true;
  /** Another attempt of the ApplicationMaster follows. */
  readonly recovers?: true;
  readonly strike: (world: World) => void;
}

export const FAULTS: readonly [Fault, ...Fault[]] = [
  {
    name: "a program exits 1",
    class: "program",
    strike: (world) => victim(world)?.endChild({ exitCode: 1, traceback: "ValueError", errorSummary: "ValueError" }),
  },
  {
    name: "a program is killed",
    class: "program",
    strike: (world) => victim(world)?.endChild({ signal: "SIGKILL" }),
  },
  {
    name: "a program dies of a machine's fault",
    class: "infrastructure",
    strike: (world) => victim(world)?.endChild({ signal: "SIGBUS" }),
  },
  {
    name: "a container is killed for its memory",
    class: "program",
    strike: (world) => killContainer(world, victim(world), -104, "is running beyond physical memory limits"),
  },
  {
    name: "a node tells a container to end for its memory",
    class: "program",
    strike: (world) => victim(world)?.toldToEnd(-103, "is running beyond virtual memory limits"),
  },
  {
    name: "an executor is killed",
    class: "infrastructure",
    strike: (world) => killContainer(world, victim(world), 137, ""),
  },
  {
    name: "a container is preempted",
    class: "infrastructure",
    isFree: true,
    strike: (world) => {
      const executor = victim(world);
      if (executor === undefined) {
        return;
      }
      if (world.random.chance(0.6)) {
        world.deliver({
          type: "preemption-notice",
          containerIds: [executor.containerId],
          strict: world.random.chance(0.5),
        });
      }
      world.clock.after(world.random.integer(0, 15_000), () => killContainer(world, executor, -102, "preempted"));
    },
  },
  {
    name: "a node is lost",
    class: "infrastructure",
    strike: (world) => {
      const alive = world.yarn.nodes.filter((node) => node.alive);
      const node = world.random.any(alive);
      if (node === undefined || alive.length < 3) {
        return;
      }
      world.trace(`! ${node.host} is lost`);
      node.alive = false;
      for (const executor of world.executors.values()) {
        if (executor.container.node === node && executor.alive) {
          executor.die();
          world.peersLose(executor);
        }
      }
      world.clock.after(world.random.integer(1_000, 12_000), () => world.yarn.loseNode(node));
    },
  },
  {
    name: "a stream breaks",
    deafens: true,
    strike: (world) => victim(world)?.breakLink(world.random.integer(1, 1_000)),
  },
  {
    name: "an executor freezes",
    deafens: true,
    class: "infrastructure",
    strike: (world) => {
      const executor = victim(world);
      if (executor !== undefined) {
        executor.frozen = true;
      }
    },
  },
  {
    name: "an executor freezes for a short time",
    deafens: true,
    freezes: true,
    strike: (world) => {
      const executor = victim(world);
      if (executor !== undefined) {
        executor.freezeFor(world.random.integer(500, 6_000));
      }
    },
  },
  {
    name: "the ApplicationMaster is paused",
    deafens: true,
    strike: (world) => world.master.pause(world.random.integer(1_000, 60_000)),
  },
  {
    name: "the ApplicationMaster is paused, replaced, and goes on",
    deafens: true,
    recovers: true,
    strike: (world) => world.pauseBeyondExpiry(),
  },
  {
    name: "the ApplicationMaster dies",
    deafens: true,
    recovers: true,
    strike: (world) => world.crash(),
  },
  {
    name: "the ApplicationMaster dies during a restart",
    deafens: true,
    class: "program",
    recovers: true,
    strike: (world) => {
      victim(world)?.endChild({ signal: "SIGKILL" });
      world.clock.after(world.random.integer(0, 8_000), () => world.crash());
    },
  },
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
  {
    name: "the client stops the job",
    ends: true,
    strike: (world) => world.deliver({ type: "stop-requested", reason: "stopped by alice" }),
  },
];

const PARTITIONED = { deafens: true, freezes: true, severs: true, class: "infrastructure" } as const;

/** What a wider world has besides. */
export const WIDE_FAULTS: readonly [Fault, ...Fault[]] = [
  partition("a node is cut off", { whole: true, inward: true, outward: true }),
  partition("a node is cut off from the ApplicationMaster", { inward: true, outward: true }),
  partition("a node is cut off from the ApplicationMaster and its NodeManager stands still", {
    unmanaged: true,
    inward: true,
    outward: true,
  }),
];

/** What few clusters see. */
export const RARE_FAULTS: readonly [Fault, ...Fault[]] = [
  partition("what a node says to the ApplicationMaster is lost", { inward: false, outward: true }),
  partition("what the ApplicationMaster says to a node is lost", { inward: true, outward: false }),
  {
    name: "a rack is cut off",
    ...PARTITIONED,
    strike: (world) => {
      const cut = { whole: true, inward: true, outward: true } as const;
      const durationMs = world.random.integer(1, 120) * 1000;
      const whole = world.yarn.nodes.filter((node) => node.alive && node.cut === undefined);
      for (const node of whole.filter(({ rack }) => rack === "/rack1")) {
        cutOff(world, node, cut, durationMs);
      }
    },
  },
  {
    name: "the ResourceManager is away",
    mutes: true,
    strike: (world) => restartResourceManager(world, world.random.integer(10, 180) * 1000),
  },
  {
    name: "a NodeManager restarts",
    mutes: true,
    class: "infrastructure",
    strike: (world) => {
      const node = world.random.any(world.yarn.nodes);
      if (node !== undefined) {
        node.isUnmanaged = true;
        world.clock.after(world.random.integer(2_000, 30_000), () => {
          node.isUnmanaged = false;
        });
      }
    },
  },
  {
    name: "a NodeManager is slow",
    strike: (world) => {
      const node = world.random.any(world.yarn.nodes);
      if (node !== undefined) {
        node.slowMs = world.random.integer(1_000, 30_000);
        world.clock.after(world.random.integer(10_000, 120_000), () => {
          node.slowMs = 0;
        });
      }
    },
  },
  {
    name: "a machine's clock jumps",
    strike: (world) => {
      for (const node of world.yarn.nodes) {
        node.skewMs += world.random.integer(-3_600_000, 3_600_000);
      }
    },
  },
];

/** Nobody answers for a while; then the asks of all attempts are forgotten. */
function restartResourceManager(world: World, outageMs: number): void {
  const { resourceManager, clock } = world;
  resourceManager.goDown();
  clock.after(outageMs, () => resourceManager.comeBack());
}

function partition(name: string, cut: Cut): Fault {
  return {
    name,
    ...PARTITIONED,
    strike: (world) => {
      const whole = world.yarn.nodes.filter(({ alive, cut: other }) => alive && other === undefined);
      const node = world.random.any(whole);
      if (node !== undefined && whole.length >= 3) {
        world.trace(`! ${name}: ${node.host}`);
        cutOff(world, node, cut, world.random.integer(1, 120) * 1000);
      }
    },
  };
}

/** For jobs whose programs report steps. */
export const HANG: Fault = {
  name: "a program hangs",
  class: "program",
  strike: (world) => victim(world)?.hang(),
};

/** A program that the others needed ends well: they lose its connection. */
export const EARLY_EXIT: Fault = {
  name: "a program ends with 0 before the others",
  class: "program",
  strike: (world) => {
    const executor = victim(world);
    if (executor?.child.state === "running") {
      world.programsFault(executor, true, false);
      executor.endChild({});
      world.peersLose(executor);
    }
  },
};

/** Other jobs take what is free, most of it for a while. */
export function fillCluster(world: World): void {
  const untilMs = world.random.integer(10, 1_200) * 1000;
  for (const node of world.yarn.nodes) {
    const takenMiB = Math.floor((node.capacityMiB - node.usedMiB) * world.random.pick([1, 1, 0.9, 0.5]));
    node.usedMiB += takenMiB;
    world.clock.after(world.random.integer(1_000, untilMs), () => {
      node.usedMiB -= takenMiB;
    });
  }
}

/** Any executor whose program could be hit. */
function victim(world: World): ExecutorModel | undefined {
  const executor = world.random.any([...world.executors.values()].filter(({ alive }) => alive));
  world.trace(`! it strikes ${executor === undefined ? "nobody" : executor.task}`);
  return executor;
}

/** A container ends from outside: its peers notice at once, YARN says so later. */
function killContainer(
  world: World,
  executor: ExecutorModel | undefined,
  exitStatus: number,
  diagnostics: string,
): void {
  if (executor?.alive !== true) {
    return;
  }
  const ran = executor.child.state === "running";
  if (exitStatus === -104) {
    world.programsFault(executor, ran);
  }
  executor.die();
  if (ran) {
    world.peersLose(executor);
  }
  world.yarn.complete(executor.containerId, exitStatus, diagnostics);
}
