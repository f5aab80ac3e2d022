import { trialToPropose } from "../../am/core/policies/trials.ts";
import { randomParameters } from "../../src/job/search/random-search.ts";
import { Random } from "./random.ts";
import type { World } from "./world.ts";

/** The longest that Optuna takes for an answer: longer than it takes to start its process again. */
const SLOWEST_MS = 8_000;

/**
 * The process beside the present ApplicationMaster that asks Optuna: it gives random answers, to one question after the
 * other.
 */
export class OptunaModel {
  readonly #world: World;
  readonly #random: Random;
  #isAsked = false;

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#random = new Random(seed);
  }

  /** A decision was made. */
  look(): void {
    const { core, clock, spec } = this.#world;
    const number = trialToPropose(core);
    if (number === undefined || spec.search === undefined || this.#isAsked) return;
    const { space } = spec.search;
    this.#isAsked = true;
    clock.after(this.#random.integer(5, SLOWEST_MS), () => {
      this.#isAsked = false;
      const params = randomParameters(space, () => this.#random.next());
      this.#world.deliver({ type: "trial-proposed", number, params });
    });
  }
}
