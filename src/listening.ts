import type { PortRange } from "./job/spec.ts";

/**
 * Where programs of a node listen whose host is this one to others: on this machine alone where the host is a name for it that others
 * cannot use, as with the local scheduler; undefined: at all of the node's addresses.
 */
export function listeningAddress(host: string): string | undefined {
  return host === "127.0.0.1" || host === "::1" ? host : undefined;
}

/**
 * The ports to try, in order: every one of the range once, beginning anywhere, so that programs of one machine do not all begin alike;
 * without a range 0, any free port.
 * @param random 0 up to, not including, 1
 */
export function candidatePorts(range: PortRange | undefined, random: () => number): number[] {
  if (range === undefined) return [0];
  const count = range.to - range.from + 1;
  const first = Math.floor(random() * count);
  return Array.from({ length: count }, (_, index) => range.from + ((first + index) % count));
}
