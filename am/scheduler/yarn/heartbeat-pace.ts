/** Containers are allocated at a node's heartbeat and reported at ours, so both delay a start. */
const eagerMs = 200;
const idleMs = 1_000;
/** While others' jobs have the room for hours. */
const patientMs = 2_000;

/** How often the ResourceManager receives a heartbeat: often while containers are awaited, and ever less often the longer that lasts. */
export class HeartbeatPace {
  #awaitedSinceMs: number | undefined;

  /** @returns how long to wait before the next heartbeat. @param awaited whether containers are, which were asked for */
  next(awaited: boolean, nowMs: number): number {
    if (!awaited) {
      this.#awaitedSinceMs = undefined;
      return idleMs;
    }
    this.#awaitedSinceMs ??= nowMs;
    const waitedMs = nowMs - this.#awaitedSinceMs;
    return Math.min(Math.max(eagerMs, waitedMs / 30), patientMs);
  }
}
