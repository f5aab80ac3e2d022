import { getHeapStatistics } from "node:v8";
import { type MonotonicClock, monotonicClock } from "../hadoop/clock.ts";

/** How much may accumulate before new objects are collected. */
const NEW_BYTES = 2 << 20;
/** The same for all objects; for a process that holds much memory, a quarter of that if it is more. */
const ALL_BYTES = 4 << 20;
const ALL_SHARE = 1 / 4;
/** Limits the share of its time that a flooded process spends on full collections to a twentieth. */
const REST = 20;
/** How soon memory is checked after an event or a change; after each check that found nothing the interval doubles. */
const FIRST_LOOK_MS = 20;
const LAST_LOOK_MS = 1_000;
/** A smaller change is no reason to check again soon. */
const MOVED_BYTES = 256 << 10;

/** What calls and connections leave behind: objects, and memory outside V8's heap that is freed along with them. */
export interface CollectedMemory {
  bytes(): number;
  /** `minor`: only new objects, which takes 1 ms, or `major`: all objects, 15 ms and more. */
  collect(type: "minor" | "major"): void;
}

/**
 * Frees what calls and connections leave behind, if the process was started with --expose-gc. V8 by itself lets tens of MiB accumulate,
 * inside its heap and outside, before it collects, and malloc does not give back everything that it once allocated. New objects are
 * collected often; what survives counts as old, and is collected when enough has accumulated. Memory is checked while something happens,
 * and hardly ever while idle.
 */
export class Leavings {
  readonly #memory: CollectedMemory | undefined;
  readonly #clock: Pick<MonotonicClock, "nowMs">;
  #timer: NodeJS.Timeout | undefined;
  #waitMs = FIRST_LOOK_MS;
  #seen = 0;
  /** The minimum since the last minor collection, and since the last major one: what is in use, as far as is known. */
  #afterMinor = Number.POSITIVE_INFINITY;
  #afterMajor = Number.POSITIVE_INFINITY;
  #nextMajorMs = 0;

  constructor(memory = exposedMemory(), clock: Pick<MonotonicClock, "nowMs"> = monotonicClock) {
    this.#memory = memory;
    this.#clock = clock;
  }

  /** A connection or call has begun or ended. */
  notice(): void {
    if (this.#memory === undefined) return;
    if (this.#timer !== undefined && this.#waitMs === FIRST_LOOK_MS) return;
    clearTimeout(this.#timer);
    this.#lookIn(this.#memory, FIRST_LOOK_MS);
  }

  #lookIn(memory: CollectedMemory, waitMs: number): void {
    this.#waitMs = waitMs;
    this.#timer = setTimeout(() => this.#look(memory), waitMs).unref();
  }

  #look(memory: CollectedMemory): void {
    const bytes = memory.bytes();
    this.#afterMinor = Math.min(this.#afterMinor, bytes);
    this.#afterMajor = Math.min(this.#afterMajor, bytes);
    const spare = Math.max(ALL_BYTES, this.#afterMajor * ALL_SHARE);
    const beganMs = this.#clock.nowMs();
    if (this.#afterMinor > this.#afterMajor + spare && beganMs >= this.#nextMajorMs) {
      memory.collect("major");
      this.#nextMajorMs = beganMs + REST * (this.#clock.nowMs() - beganMs);
      this.#afterMinor = memory.bytes();
      this.#afterMajor = this.#afterMinor;
    } else if (bytes > this.#afterMinor + NEW_BYTES) {
      memory.collect("minor");
      this.#afterMinor = memory.bytes();
    }
    const isMoving = Math.abs(bytes - this.#seen) > MOVED_BYTES;
    this.#seen = bytes;
    if (isMoving) this.#lookIn(memory, FIRST_LOOK_MS);
    else this.#lookIn(memory, Math.min(2 * this.#waitMs, LAST_LOOK_MS));
  }
}

function exposedMemory(): CollectedMemory | undefined {
  const { gc } = globalThis;
  if (gc === undefined) return undefined;
  return {
    bytes: () => {
      const { external_memory: outside, used_heap_size: inside } = getHeapStatistics();
      return outside + inside;
    },
    // With any options, Node 20 collects only new objects.
    collect: (type) => (type === "minor" ? gc({ type, execution: "sync" }) : gc()),
  };
}
