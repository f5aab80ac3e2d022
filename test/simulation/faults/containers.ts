import { machinesFault, nobodysFault, nodesFault, programsFault } from "../causes.ts";
import type { ExecutorModel } from "../executor-model.ts";
import { peersLose } from "../program-ends.ts";
import type { World } from "../world.ts";
import { type Fault, victim } from "./fault.ts";

/** Faults of containers, their nodes and executors. */
export const CONTAINER_FAULTS: readonly Fault[] = [
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
      // Whatever its program does between the notice and the end counts as giving way.
      nobodysFault(world, executor);
      world.clock.after(world.random.integer(0, 15_000), () => {
        nobodysFault(world, executor);
        killContainer(world, executor, -102, "preempted");
      });
    },
  },
  {
    name: "a node is lost",
    concernsNodes: true,
    class: "infrastructure",
    strike: (world) => {
      const staying = world.cluster.nodes.filter(({ alive, leaving }) => alive && leaving === undefined);
      const node = world.random.any(staying);
      // A lost node does not come back. If it were the last one with its label, whatever asks for that label would wait
      // for ever.
      const alike = staying.filter(({ label }) => label === node?.label);
      if (node === undefined || staying.length < 3 || alike.length < 2) {
        return;
      }
      world.trace(`! ${node.host} is lost`);
      nodesFault(world, node, true);
      node.alive = false;
      node.hasCrashed = true;
      for (const executor of world.executors.values()) {
        if (executor.container.node === node && executor.alive) {
          const { hasProgram } = executor;
          executor.die();
          if (hasProgram) {
            peersLose(world, executor);
          }
        }
      }
      world.clock.after(world.random.integer(1_000, 12_000), () => {
        world.cluster.loseNode(node);
        world.deliver({ type: "nodes-changed", nodes: [world.cluster.viewOf(node)] });
      });
    },
  },
  {
    name: "a stream breaks",
    deafens: true,
    strike: (world) => victim(world)?.connection.break(),
  },
  {
    name: "an executor freezes",
    deafens: true,
    class: "infrastructure",
    strike: (world) => {
      const executor = victim(world);
      if (executor !== undefined) {
        executor.frozen = true;
        machinesFault(world, executor, false);
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
        machinesFault(world, executor, false);
      }
    },
  },
];

/** Who is at fault for an exit status of YARN. */
const FAULT_OF: Readonly<Record<number, (world: World, executor: ExecutorModel) => void>> = {
  137: machinesFault,
  [-104]: (world, executor) => programsFault(world, executor, executor.hasProgram),
};

/** A container is ended from outside: its peers notice at once, and YARN reports it later. */
function killContainer(
  world: World,
  executor: ExecutorModel | undefined,
  exitStatus: number,
  diagnostics: string,
): void {
  if (executor?.alive !== true) {
    return;
  }
  const ran = executor.hasProgram;
  FAULT_OF[exitStatus]?.(world, executor);
  executor.die();
  if (ran) {
    peersLose(world, executor);
  }
  world.endContainer(executor, exitStatus, diagnostics);
}
