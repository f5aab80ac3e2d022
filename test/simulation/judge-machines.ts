import type { World } from "./world.ts";

/**
 * A machine is blamed for what really happened on it, and kept off for that alone; but where YARN's exit status was not heard, whatever
 * ended the container may be held against its machine.
 */
export function judgeMachines({ core, spec, witness, unheard, attempts }: World): string[] {
  return Object.entries(core.state.blame).flatMap(([host, { failures, excluded }]) => {
    const incidents = witness.incidentsOn(host);
    const guesses = attempts.lostWords + [...unheard.values()].filter((container) => container.host === host).length;
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
