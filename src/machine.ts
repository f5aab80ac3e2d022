import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";

/** What this machine has to give. */
export interface Machine {
  readonly memoryMiB: number;
  readonly vcores: number;
  /** Its NVIDIA GPUs, each as CUDA_VISIBLE_DEVICES names it. */
  readonly gpus: readonly string[];
}

/** How GPUs are found; for tests. */
export interface GpuSources {
  /** What `nvidia-smi -L` prints; undefined when there is none, or no driver. */
  readonly listed: () => string | undefined;
  /** The names in /dev. */
  readonly devices: () => readonly string[];
}

const mebibyte = 2 ** 20;
/** A driver that is not kept loaded takes seconds. */
const driverMs = 10_000;

/** @param environment whose PATH has nvidia-smi, and whose CUDA_VISIBLE_DEVICES bounds what may be used */
export function thisMachine(environment: Readonly<Record<string, string | undefined>>): Machine {
  return {
    memoryMiB: Math.floor(totalmem() / mebibyte),
    vcores: availableParallelism(),
    gpus: usableGpus(environment.CUDA_VISIBLE_DEVICES, { listed: () => listed(environment), devices }),
  };
}

/**
 * The devices that a person's own CUDA_VISIBLE_DEVICES leaves; without it all that the driver lists. Where nobody can ask the driver the
 * device files are counted; CUDA numbers from 0 what is there.
 */
export function usableGpus(visible: string | undefined, sources: GpuSources): string[] {
  if (visible !== undefined) return visibleDevices(visible);
  const said = sources.listed();
  const count =
    said === undefined
      ? sources.devices().filter((name) => /^nvidia\d+$/.test(name)).length
      : said.split("\n").filter((line) => /^GPU \d+:/.test(line)).length;
  return Array.from({ length: count }, (_, number) => String(number));
}

function listed(environment: NodeJS.ProcessEnv): string | undefined {
  const { status, stdout } = spawnSync("nvidia-smi", ["-L"], { encoding: "utf8", env: environment, timeout: driverMs });
  return status === 0 ? stdout : undefined;
}

function devices(): readonly string[] {
  try {
    return readdirSync("/dev");
  } catch {
    return [];
  }
}

/** The devices that a value of CUDA_VISIBLE_DEVICES names, up to the first that is none, as CUDA reads it. */
export function visibleDevices(value: string): string[] {
  const named = value.split(",").map((name) => name.trim());
  const end = named.findIndex((name) => name === "" || name.startsWith("-"));
  return end < 0 ? named : named.slice(0, end);
}

/** By e_machine of the System V ABI, as `process.arch` names them. */
const ARCHITECTURES: Readonly<Record<number, string>> = {
  3: "ia32",
  40: "arm",
  62: "x64",
  183: "arm64",
  243: "riscv64",
};

/**
 * The architecture that a program is made for: as `process.arch` names it, or the number of e_machine.
 * @param head how its file begins
 * @returns undefined where that is no ELF file of 64 bits, little-endian
 */
export function architectureOf(head: Buffer): string | undefined {
  if (head.length < 20 || head.readUInt32BE(0) !== 0x7f454c46 || head[4] !== 2 || head[5] !== 1) return undefined;
  const machine = head.readUInt16LE(18);
  return ARCHITECTURES[machine] ?? String(machine);
}
