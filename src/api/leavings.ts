import { getHeapStatistics } from "node:v8";
import { type MonotonicClock, monotonicClock } from "../hadoop/clock.ts";

/** What may gather before new objects are collected. */
const NEW_BYTES = 2 << 20;
/** The same of all objects; of a process that holds much a quarter of that, if it is more. */
const ALL_BYTES = 4 << 20;
const ALL_SHARE = 1 / 4;
/** So that a flood has a process collect all in a twentieth of its time at most. */
const REST = 20;
/** How soon it is looked again after something came or memory moved; each look after one that found nothing waits twice as long. */
const FIRST_LOOK_MS = 20;
const LAST_LOOK_MS = 1_000;
/** Less is no reason to look again soon. */
const MOVED_BYTES = 256 << 10;

/** What calls and connections leave: objects, and memory outside V8's heap that is freed with those which stand for it. */
export interface CollectedMemory {
  bytes(): number;
  /** `minor`: of new objects alone, which takes 1 ms, or `major`, of all, 15 ms and more. */
  collect(type: "minor" | "major"): void;
}

/**
 * Frees what calls and connections leave, where the process was started with --expose-gc. V8 by itself lets tens of MiB of it gather, in its
 * heap and outside, before it collects any, and malloc does not give back all that it once had. New objects are collected often; what outlives that counts as old,
 * and is collected when there is more of it. The memory is looked at while something happens, and hardly ever in peace.
 */
export class Leavings {
  readonly #memory: CollectedMemory | undefined;
  readonly #clock: Pick<MonotonicClock, "nowMs">;
  #timer: NodeJS.Timeout | undefined;
  #waitMs = FIRST_LOOK_MS;
  #seen = 0;
  /** The least that there was since a collection of new objects, and since one of all: what is held, as far as is known. */
  #afterMinor = Number.POSITIVE_INFINITY;
  #afterMajor = Number.POSITIVE_INFINITY;
  #nextMajorMs = 0;

  constructor(memory = exposedMemory(), clock: Pick<MonotonicClock, "nowMs"> = monotonicClock) {
    this.#memory = memory;
    this.#clock = clock;
  }

  /** A connection or a call has come or gone. */
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
    // With any options Node 20 takes new objects alone.
    collect: (type) => (type === "minor" ? gc({ type, execution: "sync" }) : gc()),
  };
}
