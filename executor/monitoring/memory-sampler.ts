import type { Metrics } from "../../src/api/messages.ts";
import type { DiskUse } from "../../src/job/status.ts";
import type { KernelUnits, ProcessIo, ProcessStat } from "../processes/proc-fs.ts";

const NOTHING: ProcessIo = { readBytes: 0, writtenBytes: 0 };

/** Memory, CPU and disk use of an executor's programs, from samples of their process trees. */
export class MemorySampler {
  readonly #units: KernelUnits;
  #cpuTicks = new Map<number, number>();
  #ticksOfAll = 0;
  #usedTicks = 0;
  #sampledAtMs: number | undefined;
  #samples = 0;
  #sumBytes = 0;
  #maxBytes = 0;
  #current: Metrics | undefined;
  #io: ProcessIo = NOTHING;

  constructor(units: KernelUnits) {
    this.#units = units;
  }

  /** Since the program started; undefined before the first sample. */
  get current(): Metrics | undefined {
    return this.#current;
  }

  /** Adds a sample of the tree. @param io of the whole tree, where it is known */
  add(processes: readonly ProcessStat[], nowMs: number, io?: ProcessIo): Metrics {
    const memoryBytes = processes.reduce((sum, { residentPages }) => sum + residentPages * this.#units.pageBytes, 0);
    this.#samples += 1;
    this.#sumBytes += memoryBytes;
    this.#maxBytes = Math.max(this.#maxBytes, memoryBytes);
    const ticks = this.#ticksOfEach(processes);
    this.#usedTicks += this.#ticks(ticks, processes);
    const elapsedMs = nowMs - (this.#sampledAtMs ?? nowMs);
    this.#sampledAtMs = nowMs;
    this.#current = {
      memoryBytes,
      maxMemoryBytes: this.#maxBytes,
      averageMemoryBytes: Math.round(this.#sumBytes / this.#samples),
      cpuCores: this.#cpuCores(ticks, elapsedMs),
      cpuMs: Math.round((this.#usedTicks / this.#units.ticksPerSecond) * 1000),
      processes: processes.length,
      ...(io && { disk: this.#diskUse(io, elapsedMs) }),
    };
    return this.#current;
  }

  /** Starts again for a new program. */
  reset(): void {
    this.#cpuTicks.clear();
    this.#ticksOfAll = 0;
    this.#usedTicks = 0;
    this.#sampledAtMs = undefined;
    this.#samples = 0;
    this.#sumBytes = 0;
    this.#maxBytes = 0;
    this.#current = undefined;
    this.#io = NOTHING;
  }

  /**
   * What the programs have used since the last sample: the increase of each process that still runs, and at least the increase of what all
   * of them and the children that they have reaped have used. A process that has ended and is not reaped yet may be counted twice.
   */
  #ticks(ofEach: number, processes: readonly ProcessStat[]): number {
    const ofAll = processes.reduce((sum, { cpuTicks, reapedTicks }) => sum + cpuTicks + reapedTicks, 0);
    const ticks = Math.max(0, ofEach, ofAll - this.#ticksOfAll);
    this.#ticksOfAll = ofAll;
    return ticks;
  }

  /** Ticks of processes that run now. */
  #ticksOfEach(processes: readonly ProcessStat[]): number {
    const ticks = processes.reduce((sum, { pid, cpuTicks }) => sum + cpuTicks - (this.#cpuTicks.get(pid) ?? 0), 0);
    this.#cpuTicks = new Map(processes.map(({ pid, cpuTicks }) => [pid, cpuTicks]));
    return Math.max(0, ticks);
  }

  /** CPU time of processes that ended since the last sample is not counted. */
  #cpuCores(ticks: number, elapsedMs: number): number {
    if (elapsedMs <= 0) return 0;
    return Math.round((ticks / this.#units.ticksPerSecond / elapsedMs) * 1e5) / 100;
  }

  /**
   * A process's counts include those of the children that it has reaped. The counts of one that left the tree are lost with it. What was
   * read before the first sample counts in the second.
   */
  #diskUse(io: ProcessIo, elapsedMs: number): DiskUse {
    const before = this.#io;
    if (elapsedMs <= 0) return { readBytesPerSecond: 0, writtenBytesPerSecond: 0 };
    this.#io = io;
    const rate = (amount: keyof ProcessIo) => Math.round((Math.max(0, io[amount] - before[amount]) / elapsedMs) * 1000);
    return { readBytesPerSecond: rate("readBytes"), writtenBytesPerSecond: rate("writtenBytes") };
  }
}
