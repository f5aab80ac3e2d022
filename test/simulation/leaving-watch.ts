import type { Effect } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";

/**
 * Which nodes an attempt of the ApplicationMaster knows to be leaving the cluster, and whether it starts anything there.
 */
export class LeavingWatch {
  readonly #hosts = new Set<string>();
  /** What was told to start: such an order is repeated where it may have been lost. */
  readonly #started = new Set<string>();
  #attempt = 0;
  #hasJournal = false;

  /** @param hostOf the host of a container @returns what went wrong, in words */
  check(
    attempt: number,
    event: Event,
    effects: readonly Effect[],
    hostOf: (containerId: string) => string | undefined,
  ): string[] {
    if (attempt !== this.#attempt) {
      this.#attempt = attempt;
      this.#hosts.clear();
      this.#hasJournal = attempt === 1;
    }
    for (const { host, usable, decommissioning } of event.type === "nodes-changed" ? event.nodes : []) {
      if (decommissioning !== undefined) {
        this.#hosts.add(host);
      } else if (usable || !this.#hasJournal) {
        // For an attempt that has not read its journal only the last report counts: a node that is out by then is no
        // longer leaving.
        this.#hosts.delete(host);
      }
    }
    this.#hasJournal ||= event.type === "recovered";
    const launches = effects.flatMap((effect) =>
      effect.type === "launch" || effect.type === "relaunch" ? effect.launches : [],
    );
    const starts = effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "start-child"
        ? [{ ...effect.to, life: `${effect.to.containerId} ${effect.message.generation}` }]
        : [],
    );
    const fresh = starts.filter(({ life }) => !this.#started.has(life));
    for (const { life } of fresh) {
      this.#started.add(life);
    }
    return [...launches, ...fresh]
      .filter(({ containerId }) => this.#hosts.has(hostOf(containerId) ?? ""))
      .map(({ task, containerId }) => `${task} starts in ${containerId}, on a node that leaves the cluster`);
  }
}
