import type { Effect } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";

/** Which nodes an attempt of the ApplicationMaster knows to leave the cluster, and whether it starts anything there. */
export class LeavingWatch {
  readonly #hosts = new Set<string>();
  #attempt = 0;

  /** @param hostOf of a container @returns what went wrong, in words */
  check(
    attempt: number,
    event: Event,
    effects: readonly Effect[],
    hostOf: (containerId: string) => string | undefined,
  ): string[] {
    if (attempt !== this.#attempt) {
      this.#attempt = attempt;
      this.#hosts.clear();
    }
    for (const { host, usable, decommissioning } of event.type === "nodes-changed" ? event.nodes : []) {
      if (decommissioning !== undefined) {
        this.#hosts.add(host);
      } else if (usable) {
        this.#hosts.delete(host);
      }
    }
    const launches = effects.flatMap((effect) =>
      effect.type === "launch" || effect.type === "relaunch" ? effect.launches : [],
    );
    const starts = effects.flatMap((effect) =>
      effect.type === "send" && effect.message.type === "start-child" ? [effect.to] : [],
    );
    return [...launches, ...starts]
      .filter(({ containerId }) => this.#hosts.has(hostOf(containerId) ?? ""))
      .map(({ task, containerId }) => `${task} starts in ${containerId}, on a node that leaves the cluster`);
  }
}
