import type { Ask } from "../../am/core/state/effects.ts";
import type { AllocatedContainer } from "../../am/core/state/events.ts";
import type { AllocateRequest } from "./application-service.ts";

/** What an ApplicationMaster wants from the ResourceManager, and what of that the next heartbeat has to say. */
export class Outstanding {
  /** How many containers of each role's ask were not given yet, by priority. */
  readonly #asks = new Map<number, Ask>();
  readonly #untoldAsks = new Set<number>();
  readonly #releases = new Set<string>();
  #untoldReleases: string[] = [];
  #avoided: readonly string[] = [];
  #avoidedUntold = false;

  /** Whether a container is still to come. */
  get isWaiting(): boolean {
    return [...this.#asks.values()].some(({ count }) => count > 0);
  }

  ask(ask: Ask): void {
    this.#asks.set(ask.priority, ask);
    this.#untoldAsks.add(ask.priority);
  }

  release(containerId: string): void {
    this.#releases.add(containerId);
    this.#untoldReleases.push(containerId);
  }

  avoid(hosts: readonly string[]): void {
    this.#avoided = hosts;
    this.#avoidedUntold = true;
  }

  given(containers: readonly AllocatedContainer[]): void {
    for (const { priority } of containers) {
      const ask = this.#asks.get(priority);
      if (ask !== undefined) {
        this.#asks.set(priority, { ...ask, count: Math.max(0, ask.count - 1) });
      }
    }
  }

  completed(containerId: string): void {
    this.#releases.delete(containerId);
  }

  /** Says all of it again, to a ResourceManager that knows nothing of it. */
  tellAgain(): void {
    for (const priority of this.#asks.keys()) {
      this.#untoldAsks.add(priority);
    }
    this.#untoldReleases = [...this.#releases];
    this.#avoidedUntold = this.#avoided.length > 0;
  }

  nextRequest(responseId: number): AllocateRequest {
    const asks = [...this.#untoldAsks].flatMap((priority) => this.#asks.get(priority) ?? []);
    const avoided = this.#avoidedUntold ? { avoided: this.#avoided } : {};
    this.#untoldAsks.clear();
    this.#avoidedUntold = false;
    return { responseId, asks, releases: this.#untoldReleases.splice(0), ...avoided };
  }
}
