import { expect, test } from "@jest/globals";
import { runRivals } from "./rivals.ts";

/** The suite `simulation` runs many more. */
const SEEDS = [1, 2, 3, 4];

test.each(SEEDS)(
  "of two gangs that do not fit on a cluster together one runs after the other, seed %i",
  async (seed) => {
    expect(await runRivals(seed)).toEqual([]);
  },
);

test.each(SEEDS)(
  "both end as they should also where programs, containers, ApplicationMasters or services fail, seed %i",
  async (seed) => {
    expect(await runRivals(seed, { areStruck: true })).toEqual([]);
  },
);
