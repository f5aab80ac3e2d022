import { createInvariants, type Invariants } from "../../am/core/invariants.ts";
import type { Effect } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";
import type { CoreState } from "../../am/core/state/state.ts";
import { checkContainers, checkDurability } from "./ground-truth.ts";
import { LeavingWatch } from "./leaving-watch.ts";
import type { Master } from "./master.ts";
import { WaitWatch } from "./wait-watch.ts";
import type { World } from "./world.ts";

/** What must hold after every step of the present attempt's core. */
export class StepWatch {
  readonly #world: World;
  readonly #waits = new WaitWatch();
  readonly #leaving = new LeavingWatch();
  #invariants: Invariants;

  constructor(world: World) {
    this.#world = world;
    this.#invariants = createInvariants(world.spec);
  }

  /** The job begins anew: its next attempt finds no journal. */
  beginAgain(): void {
    this.#invariants = createInvariants(this.#world.spec);
  }

  /** @returns what went wrong, in words */
  check(master: Master, event: Event, effects: readonly Effect[], nowMs: number): string[] {
    const world = this.#world;
    const { state } = master.core;
    const concernsContainers = event.type === "containers-allocated" || event.type === "recovered";
    const hostOf = (containerId: string) => world.application.containers.get(containerId)?.node.host;
    return [
      ...this.#invariants.check(state, effects, event),
      ...checkDurability(world.journal, effects),
      ...(event.type === "transfer" ? checkTransfer(state, event) : []),
      ...(concernsContainers ? checkContainers(world) : []),
      ...this.#waits.check(master, nowMs),
      ...this.#leaving.check(state.attempt, event, effects, hostOf),
    ];
  }
}

/** What becomes of files is believed only from the container that the task holds. */
function checkTransfer(
  { tasks, containers }: CoreState,
  { task: id, containerId, transfer }: Extract<Event, { type: "transfer" }>,
): string[] {
  const task = tasks.find((one) => one.id === id);
  const isHeld = containers[containerId]?.phase === "held" && task?.containerId === containerId;
  const isBelieved = task?.transfers?.includes(transfer) === true;
  return isBelieved && !isHeld
    ? [`${id}'s ${transfer.what} is believed of ${containerId}, which it does not hold`]
    : [];
}
