import type { Ask } from "../../core/state/effects.ts";

/** An ask, and the one that it replaces, as the ResourceManager took it. */
export interface UntoldAsk {
  readonly ask: Ask;
  readonly before: Ask | undefined;
}

/**
 * What the ResourceManager is yet to be told of each role's containers, and what it has not answered. It refuses a whole heartbeat for
 * one ask that is too large, and takes none of it: all of them are told one by one then, and the one that it refuses alone is the one.
 */
export class UntoldAsks {
  /** By priority: each role has its own. */
  readonly #untold = new Map<number, Ask>();
  readonly #taken = new Map<number, Ask>();
  #told: Ask[] = [];
  #oneByOne = false;

  add(ask: Ask): void {
    this.#untold.set(ask.priority, ask);
  }

  /** What goes with the next heartbeat; not to be called while an earlier one waits to be repeated. */
  take(): UntoldAsk[] {
    const asks = [...this.#untold.values()].slice(0, this.#oneByOne ? 1 : undefined);
    for (const { priority } of asks) this.#untold.delete(priority);
    this.#told = asks;
    return asks.map((ask) => ({ ask, before: this.#taken.get(ask.priority) }));
  }

  /** The ResourceManager took what it was told. @returns whether there is more to tell */
  answered(): boolean {
    for (const ask of this.#told.splice(0)) this.#taken.set(ask.priority, ask);
    this.#oneByOne &&= this.#untold.size > 0;
    return this.#untold.size > 0;
  }

  /** It refused something. @returns which ask; undefined where that is not known, and will be told one by one */
  refused(): Ask | undefined {
    // A resync tells what was taken before.
    const told = this.#told.length > 0 ? this.#told : [...this.#taken.values()].filter(({ count }) => count > 0);
    this.#told = [];
    for (const { priority } of told) this.#taken.delete(priority);
    if (told.length === 1) return told[0];
    this.#oneByOne = true;
    for (const ask of told) if (!this.#untold.has(ask.priority)) this.#untold.set(ask.priority, ask);
    return undefined;
  }
}
