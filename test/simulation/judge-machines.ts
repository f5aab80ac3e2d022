import type { ModelNode } from "./node.ts";
import type { World } from "./world.ts";

/** Nodes that left the cluster without the job's last attempt knowing: it takes them for lost. */
export function untoldDepartures({ core, cluster }: World): readonly ModelNode[] {
  return cluster.nodes.filter(({ host, leaving }) => leaving !== undefined && core.state.leaving[host] === undefined);
}

/**
 * Checks that a machine is blamed only for what really happened on it, and is avoided only for that. Where YARN's exit status was not
 * heard, whatever ended the container may be held against its machine.
 */
export function judgeMachines(world: World): string[] {
  const { core, spec, witness, unheard, attempts } = world;
  const untold = untoldDepartures(world).map(({ host }) => host);
  const blamed = Object.entries(core.state.blame).filter(([host]) => !untold.includes(host));
  return blamed.flatMap(([host, { failures, excluded }]) => {
    const incidents = witness.incidentsOn(host);
    const guesses = attempts.lostWords + unheard.countOn(host);
    const problems: string[] = [];
    if (failures > incidents + guesses) {
      problems.push(`${failures} failures are held against ${host}, which had ${incidents}`);
    }
    if (excluded && incidents + guesses < spec.failure.blame.node) {
      problems.push(`${host} is kept off, and it failed ${incidents} times`);
    }
    return problems;
  });
}
