import { type Gauge, type GpuDevice, type GpuMetrics, IDLE_GPU_PERCENT } from "../../src/job/gpus.ts";
import type { Gpu } from "./nvidia-smi.ts";

const kinds = ["utilization", "memory", "bar1Memory"] as const;
type Kind = (typeof kinds)[number];

interface Sum {
  readonly samples: number;
  /** Of the samples' averages. */
  readonly sum: number;
  readonly max: number;
}

/** The gauges of a task's GPUs over time, as TonY's TaskMonitor adds samples up: the most of any GPU, the average of all. */
export class GpuGauges {
  readonly #sums = new Map<Kind, Sum>();
  /** Those that did something. */
  readonly #used = new Set<string>();

  /** @param gpus the task's; at least one */
  add(gpus: readonly Gpu[]): GpuMetrics {
    const gauges = kinds.flatMap((kind) => {
      const gauge = this.#gauge(
        kind,
        gpus.map((gpu) => gpu[kind]).filter((value) => value !== undefined),
      );
      return gauge === undefined ? [] : [[kind, gauge] as const];
    });
    return { count: gpus.length, ...this.#unused(gpus), ...Object.fromEntries(gauges), devices: gpus.map(deviceOf) };
  }

  #unused(gpus: readonly Gpu[]): Pick<GpuMetrics, "unused"> {
    for (const { uuid, utilization = 0 } of gpus) if (utilization >= IDLE_GPU_PERCENT) this.#used.add(uuid);
    if (gpus.some(({ utilization }) => utilization === undefined)) return {};
    return { unused: gpus.filter(({ uuid }) => !this.#used.has(uuid)).length };
  }

  #gauge(kind: Kind, values: readonly number[]): Gauge | undefined {
    if (values.length === 0) return undefined;
    const current = values.reduce((sum, value) => sum + value, 0) / values.length;
    const before = this.#sums.get(kind) ?? { samples: 0, sum: 0, max: 0 };
    const now = {
      samples: before.samples + 1,
      sum: before.sum + current,
      max: Math.max(before.max, ...values),
    };
    this.#sums.set(kind, now);
    return { current: rounded(current), max: rounded(now.max), average: rounded(now.sum / now.samples) };
  }
}

function deviceOf({ utilization, memory }: Gpu): GpuDevice {
  return {
    ...(utilization !== undefined && { utilization: rounded(utilization) }),
    ...(memory !== undefined && { memory: rounded(memory) }),
  };
}

const rounded = (percent: number) => Math.round(percent * 100) / 100;
