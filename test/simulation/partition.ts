import { LONGEST_UNNOTICED_MS } from "./absence.ts";
import type { World } from "./world.ts";
import { type Cut, type ModelNode, obeysYarn } from "./yarn.ts";

/** Some of a node's connections are cut for a while. Nobody says so: whoever is on either side finds out by waiting. */
export function cutOff(world: World, node: ModelNode, cut: Cut, durationMs: number): void {
  const { clock, random, yarn, witness } = world;
  node.cut = cut;
  witness.incident(node.host);
  const there = () => [...world.executors.values()].filter(({ container, alive }) => alive && container.node === node);
  for (const executor of there()) {
    executor.wasCut = true;
    clock.after(random.integer(10_000, 60_000), () => {
      if (node.cut !== undefined && executor.child.state === "running") {
        world.peersLose(executor, "severed");
      }
    });
    clock.after(random.integer(0, LONGEST_UNNOTICED_MS), () => {
      if (node.cut !== undefined) {
        executor.missesMaster();
      }
    });
    if (random.chance(0.5)) {
      clock.after(random.integer(0, 10_000), () => executor.breakLink(1_000));
    }
  }
  const expiryMs = random.integer(10_000, 60_000);
  if (!obeysYarn(node) && expiryMs < durationMs) {
    clock.after(expiryMs, () => yarn.loseNode(node));
  }
  clock.after(durationMs, () => {
    node.cut = undefined;
    node.alive = true;
    for (const executor of there()) {
      if (executor.container.state === "complete") {
        executor.die();
      } else {
        executor.breakLink(random.integer(1, 5_000));
      }
    }
  });
}
