import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";

/** The resources of this machine. */
export interface Machine {
  readonly memoryMiB: number;
  readonly vcores: number;
  /** Its NVIDIA GPUs, each by its name in CUDA_VISIBLE_DEVICES. */
  readonly gpus: readonly string[];
}

/** How GPUs are found; tests replace it. */
export interface GpuSources {
  /** The output of `nvidia-smi -L`; undefined when there is no such program or no driver. */
  readonly listed: () => string | undefined;
  /** The names in /dev. */
  readonly devices: () => readonly string[];
}

const mebibyte = 2 ** 20;
/** A driver that is not kept loaded takes seconds to answer. */
const driverMs = 10_000;

/** @param environment its PATH finds nvidia-smi, and its CUDA_VISIBLE_DEVICES limits which GPUs may be used */
export function thisMachine(environment: Readonly<Record<string, string | undefined>>): Machine {
  return {
    memoryMiB: Math.floor(totalmem() / mebibyte),
    vcores: availableParallelism(),
    gpus: usableGpus(environment.CUDA_VISIBLE_DEVICES, { listed: () => listed(environment), devices }),
  };
}

/**
 * The GPUs that the user's own CUDA_VISIBLE_DEVICES allows; without that variable, all that the driver lists. Where the driver cannot be
 * queried, the device files are counted; CUDA numbers the devices that exist from 0.
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

/** The devices that a value of CUDA_VISIBLE_DEVICES names, up to the first invalid one, as CUDA reads it. */
export function visibleDevices(value: string): string[] {
  const named = value.split(",").map((name) => name.trim());
  const end = named.findIndex((name) => name === "" || name.startsWith("-"));
  return end < 0 ? named : named.slice(0, end);
}

/** Names as in `process.arch`, by e_machine of the System V ABI. */
const ARCHITECTURES: Readonly<Record<number, string>> = {
  3: "ia32",
  40: "arm",
  62: "x64",
  183: "arm64",
  243: "riscv64",
};

/**
 * The architecture that a program is built for: its name in `process.arch`, or else the number in e_machine.
 * @param head the first bytes of its file
 * @returns undefined unless that is a 64-bit little-endian ELF file
 */
export function architectureOf(head: Buffer): string | undefined {
  if (head.length < 20 || head.readUInt32BE(0) !== 0x7f454c46 || head[4] !== 2 || head[5] !== 1) return undefined;
  const machine = head.readUInt16LE(18);
  return ARCHITECTURES[machine] ?? String(machine);
}
