import type { JobSpec } from "./spec.ts";

/** `yarn.io/gpu`, `nvidia.com/gpu`, and the profiles of MIG (`nvidia.com/mig-1g.5gb`); no amount that is counted of GPUs, such as their memory. */
const usualNames = /(^|\/)(gpus?|mig-\d+g\.\d+gb[\w.-]*)$/i;
const plainNames = /(^|\/)gpus?$/i;

/** Whether a resource type counts GPUs, by its name or because the site says so (`tony.gpu-resource-types`). */
export function isGpu(type: string, named: readonly string[] = []): boolean {
  return named.includes(type) || usualNames.test(type);
}

/** The types that people call GPUs without more ado; of a profile of MIG it matters which. */
export function isPlainGpu(type: string): boolean {
  return plainNames.test(type);
}

/** Of a cluster's resource types those that count GPUs by their names, whole ones first: `gpus` of a role asks for the first. */
export function gpuTypesAmong(names: readonly string[]): string[] {
  const gpus = names.filter((name) => isGpu(name)).sort();
  return [...gpus.filter(isPlainGpu), ...gpus.filter((name) => !isPlainGpu(name))];
}

/** All GPUs of an amount, whichever types count them. */
export function gpusOf(others: Readonly<Record<string, number>>, named: readonly string[] = []): number {
  return Object.entries(others).reduce((sum, [type, count]) => (isGpu(type, named) ? sum + count : sum), 0);
}

/** Those that the site names, and those that the job asks for. */
export function gpuTypesOf({ gpuTypes, roles }: Pick<JobSpec, "gpuTypes" | "roles">): readonly string[] {
  const asked = roles.flatMap(({ resource }) => Object.keys(resource.others)).filter((type) => isGpu(type));
  return [...new Set([...gpuTypes, ...asked])];
}

/** Per cent of use, below which a GPU does nothing. */
export const IDLE_GPU_PERCENT = 5;

/** What the GPUs that YARN granted a task do, as nvidia-smi tells it. A gauge is absent when no GPU tells it. */
export interface GpuMetrics {
  readonly count: number;
  /** How many of them were used to less than 5 % in each sample; absent when not all tell it. */
  readonly unused?: number;
  /** Of the time, at least one kernel ran. */
  readonly utilization?: Gauge;
  /** Of their own memory. */
  readonly memory?: Gauge;
  /** Of the window through which the processor reaches that memory. */
  readonly bar1Memory?: Gauge;
  /** Each by itself, in the order in which the program numbers them. */
  readonly devices?: readonly GpuDevice[];
}

/** Those of a task whose program runs: what was measured last of one that has ended is not so now. */
export function gpusNow(task: { readonly state: string; readonly gpus?: GpuMetrics }): GpuMetrics | undefined {
  return task.state === "running" ? task.gpus : undefined;
}

/** Per cent of what there is, in the last sample; what nvidia-smi does not tell is absent. */
export interface GpuDevice {
  readonly utilization?: number;
  readonly memory?: number;
}

/** Per cent of what there is, since the program started. */
export interface Gauge {
  /** The average of all GPUs in the last sample. */
  readonly current: number;
  /** Of any GPU in any sample. */
  readonly max: number;
  /** Of all GPUs over all samples. */
  readonly average: number;
}
