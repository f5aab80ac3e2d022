import type { Metrics } from "../../src/api/messages.ts";
import type { KernelUnits, ProcessStat } from "../processes/proc-fs.ts";

/** Memory and CPU of an executor's programs, from samples of their process trees. */
export class MemorySampler {
  readonly #units: KernelUnits;
  #cpuTicks = new Map<number, number>();
  #sampledAtMs: number | undefined;
  #samples = 0;
  #sumBytes = 0;
  #maxBytes = 0;
  #current: Metrics | undefined;

  constructor(units: KernelUnits) {
    this.#units = units;
  }

  /** Since the program started; undefined before the first sample. */
  get current(): Metrics | undefined {
    return this.#current;
  }

  /** Adds a sample of the tree. */
  add(processes: readonly ProcessStat[], nowMs: number): Metrics {
    const memoryBytes = processes.reduce((sum, { residentPages }) => sum + residentPages * this.#units.pageBytes, 0);
    this.#samples += 1;
    this.#sumBytes += memoryBytes;
    this.#maxBytes = Math.max(this.#maxBytes, memoryBytes);
    this.#current = {
      memoryBytes,
      maxMemoryBytes: this.#maxBytes,
      averageMemoryBytes: Math.round(this.#sumBytes / this.#samples),
      cpuCores: this.#cpuCores(processes, nowMs),
      processes: processes.length,
    };
    return this.#current;
  }

  /** Starts again for a new program. */
  reset(): void {
    this.#cpuTicks.clear();
    this.#sampledAtMs = undefined;
    this.#samples = 0;
    this.#sumBytes = 0;
    this.#maxBytes = 0;
    this.#current = undefined;
  }

  /** CPU time of processes that ended since the last sample is not counted. */
  #cpuCores(processes: readonly ProcessStat[], nowMs: number): number {
    const elapsedMs = nowMs - (this.#sampledAtMs ?? nowMs);
    const ticks = processes.reduce((sum, { pid, cpuTicks }) => sum + cpuTicks - (this.#cpuTicks.get(pid) ?? 0), 0);
    this.#cpuTicks = new Map(processes.map(({ pid, cpuTicks }) => [pid, cpuTicks]));
    this.#sampledAtMs = nowMs;
    if (elapsedMs <= 0) return 0;
    return Math.round((Math.max(0, ticks) / this.#units.ticksPerSecond / elapsedMs) * 1e5) / 100;
  }
}
