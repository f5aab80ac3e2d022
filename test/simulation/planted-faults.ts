import type { Core } from "../../am/core/core.ts";
import type { Effect } from "../../am/core/state/effects.ts";
import type { Event } from "../../am/core/state/events.ts";

/** A changed core, to prove that its fault is noticed. */
export type Mutation = (effects: Effect[], core: Core, event: Event) => Effect[];

/** What executors that hear no ApplicationMaster fail to do. */
export type ExecutorFault = "suspend nothing" | "do not read the journal";

/** Faults of our own that a test plants, to prove that the judge notices them; without options there is none. */
export interface PlantedFaultOptions {
  readonly mutation?: Mutation;
  /** False: an attempt acts without asking whether it was replaced while it stood still. */
  readonly fenced?: boolean;
  readonly executorFault?: ExecutorFault;
  /** False: an attempt which reaches nobody but its executors keeps them for ever. */
  readonly givesWay?: boolean;
}

export class PlantedFaults {
  readonly #options: PlantedFaultOptions;

  constructor(options: PlantedFaultOptions) {
    this.#options = options;
  }

  /** What the core decides, or a changed core would. */
  decided(effects: Effect[], core: Core, event: Event): Effect[] {
    return this.#options.mutation?.(effects, core, event) ?? effects;
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
