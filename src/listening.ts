import type { PortRange } from "./job/spec.ts";

/**
 * The address on which programs of a node listen, given the node's host name. If other machines cannot use that name, as with the local
 * scheduler, programs listen on this machine only; undefined: on all addresses of the node.
 */
export function listeningAddress(host: string): string | undefined {
  return host === "127.0.0.1" || host === "::1" ? host : undefined;
}

/**
 * The ports to try, in order: every port of the range once, starting at a random one so that programs on one machine do not all start with
 * the same port. Without a range: 0, any free port.
 * @param random 0 up to, not including, 1
 */
export function candidatePorts(range: PortRange | undefined, random: () => number): number[] {
  if (range === undefined) return [0];
  const count = range.to - range.from + 1;
  const first = Math.floor(random() * count);
  return Array.from({ length: count }, (_, index) => range.from + ((first + index) % count));
}
