import { type MonotonicClock, monotonicClock } from "../hadoop/clock.ts";

/** What so many calls and connections leave that came to nothing is a MiB or two. */
const ENDS_OF_A_COLLECTION = 32;
/** So that a flood has a process collect in a twentieth of its time at most. */
const REST = 20;
const LEAST_WAIT_MS = 1_000;

/** Of what the garbage collector goes through: `minor`, new objects alone, which takes it 1 ms, or `major`, all of them, 15 ms and more. */
export type Collect = (type: "minor" | "major") => void;

/**
 * Frees what calls and connections leave that came to nothing, where the process was started with --expose-gc. It lies outside V8's heap,
 * which by itself lets 64 MiB gather there before it collects any of it, and malloc does not give back what once it had. New objects are
 * collected often; what outlives that counts as old, and is collected some time later.
 */
export class Leavings {
  readonly #collect: Collect;
  readonly #clock: Pick<MonotonicClock, "nowMs">;
  #ends = 0;
  #timer: NodeJS.Timeout | undefined;
  #waitMs = LEAST_WAIT_MS;

  constructor(collect: Collect = collectIfExposed, clock: Pick<MonotonicClock, "nowMs"> = monotonicClock) {
    this.#collect = collect;
    this.#clock = clock;
  }

  /** One more came to nothing. */
  add(): void {
    this.#ends += 1;
    if (this.#ends % ENDS_OF_A_COLLECTION !== 0) return;
    this.#collect("minor");
    this.#timer ??= setTimeout(() => this.#collectAll(), this.#waitMs).unref();
  }

  #collectAll(): void {
    this.#timer = undefined;
    const begin = this.#clock.nowMs();
    this.#collect("major");
    this.#waitMs = Math.max(LEAST_WAIT_MS, REST * (this.#clock.nowMs() - begin));
  }
}

function collectIfExposed(type: Parameters<Collect>[0]): void {
  // With any options Node 20 takes new objects alone.
  if (type === "minor") globalThis.gc?.({ type, execution: "sync" });
  else globalThis.gc?.();
}
