/** YARN's check of virtual memory, as a node's configuration has it, and what it finds before a program has begun. */
export interface VirtualMemoryCheck {
  /** Virtual memory for each byte of a container's (`yarn.nodemanager.vmem-pmem-ratio`). */
  readonly ratio: number;
  /** What is asked for is rounded up to a multiple of this (`yarn.scheduler.minimum-allocation-mb`). */
  readonly containerStepMiB: number;
  /** Of the runtime that runs there, as `process.version` has it; absent: not known. */
  readonly nodeVersion?: string | undefined;
}

/** Of a small program and of the shell that starts the executor. */
const PROGRAM_MIB = 300;

/**
 * An idle executor's, most of which V8 reserves and never uses: measured are 694 MiB with Node 20, 727 MiB with Node 22, and 1,106 MiB with
 * Node 24, where tables of V8 reserve 384 MiB more. No option makes V8 reserve less but `--jitless`.
 */
const MAPPED_MIB = 735;
const MAPPED_SINCE_24_MIB = 1126;

/** Why a container is too small for that check, whatever its program does; undefined where it is not. */
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
