import type { ExecutorModel } from "./executor-model.ts";
import { holdsGang } from "./ground-truth.ts";
import type { ModelNode } from "./node.ts";
import type { Cause } from "./witness.ts";
import type { World } from "./world.ts";

/** What the world knows about who is at fault, whatever the core believes. */

/** A failure for which the program's budget pays. After a notice nobody can tell it from a program that gives way. */
export function programsFault(world: World, executor: ExecutorModel, ran: boolean, isCertain = ran): void {
  noteCause(world, executor, "program", ran, isCertain && !executor.isNoticed);
}

/** A failure that may be held against the machine of one container, and for which the infrastructure's budget pays. */
export function machinesFault(world: World, executor: ExecutorModel, isCertain = executor.hasProgram): void {
  world.witness.incident(executor.container.node.host);
  noteCause(world, executor, "infrastructure", executor.hasProgram, isCertain);
}

/** A node was cut off: the infrastructure's budget pays, where that is known in time, and no machine is blamed. */
export function cutsFault(world: World, executor: ExecutorModel): void {
  noteCause(world, executor, "infrastructure", true, false);
}

/** An end for which no budget pays. */
export function nobodysFault(world: World, executor: ExecutorModel): void {
  noteCause(world, executor, "nothing", executor.hasProgram, executor.hasProgram);
}

/** A fault that shows in all containers of a node. */
export function nodesFault(world: World, node: ModelNode, isCertain: boolean): void {
  for (const [id, container] of world.application.containers) {
    const executor = world.executors.get(id);
    if (container.node !== node || container.state === "complete") {
      continue;
    }
    if (executor?.alive === true) {
      machinesFault(world, executor, isCertain && executor.hasProgram);
    } else {
      world.witness.incident(node.host);
    }
  }
}

/** What strikes an executor between two programs may also be what ended the first program: nobody can tell. */
function noteCause(world: World, executor: ExecutorModel, of: Cause["class"], ran: boolean, isCertain: boolean): void {
  const { task, generation, program } = executor;
  const isMember = holdsGang(world, executor);
  const lives =
    of !== "program" && !ran && program.lastGeneration > 0 ? [generation, program.lastGeneration] : [generation];
  for (const life of lives) {
    world.witness.cause({ task, generation: life, class: of, isMember, isCertain }, ran);
  }
}
