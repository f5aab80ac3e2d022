/** YARN's check of virtual memory, by a node's configuration, and what a container uses before its program has begun. */
export interface VirtualMemoryCheck {
  /** Virtual memory per byte of the container's memory (`yarn.nodemanager.vmem-pmem-ratio`). */
  readonly ratio: number;
  /** Requests are rounded up to a multiple of this (`yarn.scheduler.minimum-allocation-mb`). */
  readonly containerStepMiB: number;
  /** The release of the runtime in containers, as in `process.version`; absent: unknown. */
  readonly nodeVersion?: string | undefined;
}

/** For a small program and the shell that starts the executor. */
const PROGRAM_MIB = 300;

/**
 * For an idle executor; V8 reserves most of it and never uses it. Measured: 694 MiB with Node 20, 727 MiB with Node 22, and 1,106 MiB with
 * Node 24, where V8's tables reserve 384 MiB more. Only `--jitless` makes V8 reserve less.
 */
const MAPPED_MIB = 735;
const MAPPED_SINCE_24_MIB = 1126;

/** Why a container is too small for that check, whatever its program does; undefined where it is large enough. */
export function virtualMemoryProblem(askedMiB: number, check: VirtualMemoryCheck): string | undefined {
  const { ratio, containerStepMiB, nodeVersion } = check;
  const major = Number(/^v(\d+)\./.exec(nodeVersion ?? "")?.[1] ?? 0);
  const reserves = major >= 24;
  const rounded = (memoryMiB: number) => Math.ceil(memoryMiB / containerStepMiB) * containerStepMiB;
  const leastMiB = rounded(((reserves ? MAPPED_SINCE_24_MIB : MAPPED_MIB) + PROGRAM_MIB) / ratio);
  if (rounded(askedMiB) >= leastMiB) return undefined;
  const why = reserves
    ? `Node ${major} itself maps 1.1 GiB; Node 22, which tony.node.binary may name, maps 0.7 GiB`
    : "Node itself maps 0.7 GiB";
  return `is ${askedMiB} MiB: YARN's virtual-memory check ends containers below ${leastMiB}m, because ${why}`;
}
