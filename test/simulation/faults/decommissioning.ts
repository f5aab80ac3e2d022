import { nobodysFault } from "../causes.ts";
import type { ModelNode } from "../node.ts";
import type { World } from "../world.ts";
import type { Fault } from "./fault.ts";

/** An operator takes a node out of the cluster and gives its containers some time; some operators change their mind. */
export const DECOMMISSIONING: Fault = {
  name: "a node is decommissioned",
  class: "infrastructure",
  strike: (world) => {
    const { cluster, clock, random } = world;
    const staying = cluster.nodes.filter(({ alive, leaving }) => alive && leaving === undefined);
    const node = random.any(staying);
    // A node that was taken out does not come back. If it were the last one with its label, whatever asks for that
    // label would wait for ever.
    const alike = staying.filter(({ label }) => label === node?.label);
    if (node === undefined || staying.length < 3 || alike.length < 2) {
      return;
    }
    const timeoutMs = random.integer(1, 180) * 1000;
    world.trace(`! ${node.host} leaves in ${timeoutMs} ms`);
    node.leaving = { timeoutMs };
    tell(world, node);
    if (random.chance(0.2)) {
      clock.after(random.integer(0, timeoutMs - 1), () => {
        node.leaving = undefined;
        tell(world, node);
      });
      return;
    }
    noteCauses(world, node);
    clock.after(timeoutMs, () => takeOut(world, node));
  },
};

function tell(world: World, node: ModelNode): void {
  world.deliver({ type: "nodes-changed", nodes: [world.cluster.viewOf(node)] });
}

/** The ResourceManager counts its containers as over before the node hears of it. */
function takeOut(world: World, node: ModelNode): void {
  world.trace(`! ${node.host} is taken out`);
  node.leaving = { timeoutMs: 0 };
  noteCauses(world, node);
  tell(world, node);
  world.cluster.loseNode(node);
  for (const executor of executorsOn(world, node)) {
    executor.die();
  }
}

/** Whatever programs do there from now on counts as giving way. */
function noteCauses(world: World, node: ModelNode): void {
  for (const executor of executorsOn(world, node)) {
    nobodysFault(world, executor);
  }
}

const executorsOn = ({ executors }: World, node: ModelNode) =>
  [...executors.values()].filter(({ alive, container }) => alive && container.node === node);
