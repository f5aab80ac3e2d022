import type { Core } from "../../am/core/core.ts";
import type { Effect } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";
import type { ExecutorCore } from "../../executor/core/core.ts";
import type { Effect as ExecutorEffect } from "../../executor/core/effects.ts";
import type { Event as ExecutorEvent } from "../../executor/core/events.ts";

/** A change of the core's decisions that plants a fault, to prove that the fault is noticed. */
export type Mutation = (effects: Effect[], core: Core, event: Event) => Effect[];

/** The same for the executors' core. */
export type ExecutorMutation = (
  effects: readonly ExecutorEffect[],
  core: ExecutorCore,
  event: ExecutorEvent,
) => readonly ExecutorEffect[];

/** What executors that hear no ApplicationMaster fail to do. */
export type ExecutorFault = "suspend nothing" | "do not read the journal";

/** Faults that a test plants on purpose, to prove that the judge notices them; without options there is none. */
export interface PlantedFaultOptions {
  readonly mutation?: Mutation;
  /** False: an attempt acts without asking whether it was replaced while it stood still. */
  readonly fenced?: boolean;
  readonly executorFault?: ExecutorFault;
  readonly executorMutation?: ExecutorMutation;
  /** False: an attempt that reaches nobody but its executors keeps them for ever. */
  readonly givesWay?: boolean;
}

export class PlantedFaults {
  readonly #options: PlantedFaultOptions;

  constructor(options: PlantedFaultOptions) {
    this.#options = options;
  }

  /** What the core decides, or would decide with the planted fault. */
  decided(effects: Effect[], core: Core, event: Event): Effect[] {
    return this.#options.mutation?.(effects, core, event) ?? effects;
  }

  /** What an executor's core decides, or would decide with the planted fault. */
  executorDecided(
    effects: readonly ExecutorEffect[],
    core: ExecutorCore,
    event: ExecutorEvent,
  ): readonly ExecutorEffect[] {
    return this.#options.executorMutation?.(effects, core, event) ?? effects;
  }

  get isFenced(): boolean {
    return this.#options.fenced !== false;
  }

  get mastersGiveWay(): boolean {
    return this.#options.givesWay !== false;
  }

  get executorsSuspend(): boolean {
    return this.#options.executorFault !== "suspend nothing";
  }

  get executorsRead(): boolean {
    return this.#options.executorFault !== "do not read the journal";
  }
}
