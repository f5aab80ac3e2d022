import type { JobSpec } from "./spec.ts";

/** `yarn.io/gpu`, `nvidia.com/gpu`, and MIG profiles (`nvidia.com/mig-1g.5gb`); not amounts of something in GPUs, such as their memory. */
const usualNames = /(^|\/)(gpus?|mig-\d+g\.\d+gb[\w.-]*)$/i;
const plainNames = /(^|\/)gpus?$/i;

/** Whether a resource type counts GPUs, by its name or because the site says so (`tony.gpu-resource-types`). */
export function isGpu(type: string, named: readonly string[] = []): boolean {
  return named.includes(type) || usualNames.test(type);
}

/** The types that people simply call GPUs; with a MIG profile it matters which one it is. */
export function isPlainGpu(type: string): boolean {
  return plainNames.test(type);
}

/** The types of a cluster that count GPUs, by their names, whole GPUs first: `gpus` of a role requests the first. */
export function gpuTypesAmong(names: readonly string[]): string[] {
  const gpus = names.filter((name) => isGpu(name)).sort();
  return [...gpus.filter(isPlainGpu), ...gpus.filter((name) => !isPlainGpu(name))];
}

/** The number of GPUs in an amount, of all types that count them. */
export function gpusOf(others: Readonly<Record<string, number>>, named: readonly string[] = []): number {
  return Object.entries(others).reduce((sum, [type, count]) => (isGpu(type, named) ? sum + count : sum), 0);
}

/** The types that the site names, and those that the job requests. */
export function gpuTypesOf({ gpuTypes, roles }: Pick<JobSpec, "gpuTypes" | "roles">): readonly string[] {
  const asked = roles.flatMap(({ resource }) => Object.keys(resource.others)).filter((type) => isGpu(type));
  return [...new Set([...gpuTypes, ...asked])];
}

/** A GPU with less use than this, in percent, does nothing. */
export const IDLE_GPU_PERCENT = 5;

/** The use of the GPUs that YARN granted a task, as nvidia-smi reports it. A gauge is absent when no GPU reports it. */
export interface GpuMetrics {
  readonly count: number;
  /** How many of them were below 5 % use in every sample; absent when not all report it. */
  readonly unused?: number;
  /** The share of time in which at least one kernel ran. */
  readonly utilization?: Gauge;
  /** The share of their own memory. */
  readonly memory?: Gauge;
  /** The share of the window through which the CPU accesses that memory. */
  readonly bar1Memory?: Gauge;
  /** Each GPU by itself, in the order in which the program numbers them. */
  readonly devices?: readonly GpuDevice[];
}

/** The GPUs of a task whose program runs: the last measurement of an ended one is no longer current. */
export function gpusNow(task: { readonly state: string; readonly gpus?: GpuMetrics }): GpuMetrics | undefined {
  return task.state === "running" ? task.gpus : undefined;
}

/** Percentages of the total, in the last sample; what nvidia-smi does not report is absent. */
export interface GpuDevice {
  readonly utilization?: number;
  readonly memory?: number;
}

/** Percentages of the total, since the program started. */
export interface Gauge {
  /** The mean of all GPUs in the last sample. */
  readonly current: number;
  /** The maximum of any GPU in any sample. */
  readonly max: number;
  /** The mean of all GPUs over all samples. */
  readonly average: number;
}
