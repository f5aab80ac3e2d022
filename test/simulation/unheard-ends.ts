import type { JobSpec } from "../../src/job/spec.ts";
import { LONGEST_ENDING_MS } from "./executor-model.ts";

interface End {
  readonly host: string;
  readonly exitStatus: number;
  readonly endedAtMs: number;
}

/**
 * Containers that ended without an order, and whose exit status nobody heard while it was waited for: nobody can know what really
 * happened.
 */
export class UnheardEnds {
  readonly #ends = new Map<string, End>();
  readonly #awaitedMs: number;

  constructor({ timeouts }: JobSpec) {
    this.#awaitedMs = timeouts.verdictMs - LONGEST_ENDING_MS;
  }

  get count(): number {
    return this.#ends.size;
  }

  countOn(host: string): number {
    return [...this.#ends.values()].filter((end) => end.host === host).length;
  }

  ended(containerId: string, end: End): void {
    this.#ends.set(containerId, end);
  }

  heard(containerId: string, exitStatus: number, nowMs: number): void {
    const end = this.#ends.get(containerId);
    if (end?.exitStatus === exitStatus && nowMs <= end.endedAtMs + this.#awaitedMs) {
      this.#ends.delete(containerId);
    }
  }
}
