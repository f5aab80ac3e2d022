import { isDeepStrictEqual } from "node:util";
import type { Core } from "../../am/core/core.ts";
import { createInvariants, type Invariants } from "../../am/core/invariants.ts";
import { allTrials } from "../../am/core/journal/ended-trials.ts";
import { isSnapshot } from "../../am/core/journal/journal.ts";
import type { Effect } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";
import { initialState } from "../../am/core/state/initial-state.ts";
import type { CoreState } from "../../am/core/state/state.ts";
import { whole } from "../../src/journal/reader.ts";
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
  /** The parts that the core handed out beside its snapshots, by attempt and sequence. */
  readonly #parts = new Map<string, unknown>();
  /** The state of each attempt before anything has happened. */
  readonly #initial = new Map<string, CoreState>();

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
      ...effects.flatMap((effect) => (effect.type === "journal" ? this.#checkTasks(master, effect) : [])),
      ...(event.type === "transfer" ? checkTransfer(state, event) : []),
      ...(concernsContainers ? checkContainers(world) : []),
      ...this.#waits.check(master, nowMs),
      ...this.#leaving.check(state.attempt, event, effects, hostOf),
    ];
  }

  /** What a search's snapshot leaves out of the tasks is in the parts beside it. */
  #checkTasks({ core, attempt }: Master, { sequence, snapshot, part }: Extract<Effect, { type: "journal" }>): string[] {
    if (!this.#world.journal.isKept || core.spec.search === undefined) {
      return [];
    }
    if (part !== undefined) {
      this.#parts.set(`${attempt} ${sequence}`, JSON.parse(part));
    }
    const { spec, state } = core;
    const { applicationId } = state;
    const written: unknown = JSON.parse(snapshot);
    const sequences = isSnapshot(written, applicationId) ? (written.parts ?? []) : [];
    const read = whole(
      written,
      sequences.map((one) => this.#parts.get(`${attempt} ${one}`)),
    );
    const own = { spec, state: this.#initialOf(core) };
    const trials: object = isSnapshot(read, applicationId) ? allTrials(own, read) : {};
    const { tasks, gangs, roles } = state;
    return isSame(trials, { tasks, gangs, roles })
      ? []
      : [`snapshot ${sequence} of attempt ${attempt} and what is beside it have other trials than the state`];
  }

  #initialOf({ spec, state }: Core): CoreState {
    const { applicationId, attempt, amHost, amContainerId, startedAtMs } = state;
    const name = `${attempt} ${startedAtMs}`;
    const known = this.#initial.get(name);
    const initial =
      known ?? initialState(spec, { applicationId, attempt, amHost, amContainerId, startedAtMs, nodeHeartbeatMs: 0 });
    this.#initial.set(name, initial);
    return initial;
  }
}

/** Whether two values are the same in JSON. */
function isSame(one: unknown, other: unknown): boolean {
  return isAlike(one, other) || isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
}

/** True only for values that are the same in JSON, as far as that can be told without writing them. */
function isAlike(one: unknown, other: unknown): boolean {
  if (!isRecord(one) || !isRecord(other)) {
    return one === other;
  }
  for (const name in one) {
    if (!isAlike(one[name], other[name])) {
      return false;
    }
  }
  for (const name in other) {
    if (one[name] === undefined && other[name] !== undefined) {
      return false;
    }
  }
  return Array.isArray(one) === Array.isArray(other);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
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
