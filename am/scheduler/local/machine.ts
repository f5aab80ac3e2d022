import { readdirSync } from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import type { ResourceAmount } from "../../core/events.ts";

const mebibyte = 2 ** 20;

/** What this machine has to give: its memory, its cores, and its NVIDIA GPUs as YARN calls them. */
export function machineResources(): ResourceAmount {
  const gpus = nvidiaGpuCount();
  return {
    memoryMiB: Math.floor(totalmem() / mebibyte),
    vcores: availableParallelism(),
    others: gpus === 0 ? {} : { "yarn.io/gpu": gpus },
  };
}

/** The driver shows one folder for each GPU. */
function nvidiaGpuCount(): number {
  try {
    return readdirSync("/proc/driver/nvidia/gpus").length;
  } catch {
    return 0;
  }
}
