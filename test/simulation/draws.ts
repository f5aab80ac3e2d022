import { Random } from "./random.ts";

/**
 * What a seed decides. Each kind of thing has a random source of its own, so that a further kind leaves the lives of most seeds
 * as they are.
 */
export interface Draws {
  readonly main: Random;
  readonly aside: Random;
  readonly wider: Random;
  readonly rarer: Random;
  readonly staged: Random;
  readonly labelled: Random;
  readonly late: Random;
  readonly outages: Random;
  readonly leaving: Random;
  readonly halves: Random;
  readonly elastic: Random;
  readonly budgets: Random;
  readonly searched: Random;
  readonly asked: Random;
}

export function drawsOf(seed: number): Draws {
  return {
    main: new Random(seed),
    aside: new Random(~seed),
    wider: new Random(seed ^ 0x5bd1e995),
    rarer: new Random(seed ^ 0x2545f491),
    staged: new Random(seed ^ 0x7feb352d),
    labelled: new Random(seed ^ 0x846ca68b),
    late: new Random(seed ^ 0x3c6ef372),
    outages: new Random(seed ^ 0x2c1b3c6d),
    leaving: new Random(seed ^ 0x297a2d39),
    halves: new Random(seed ^ 0x1c69b3f7),
    elastic: new Random(seed ^ 0x51ed270b),
    budgets: new Random(seed ^ 0x3243f6a8),
    searched: new Random(seed ^ 0xbb67ae85),
    asked: new Random(seed ^ 0x1f83d9ab),
  };
}
