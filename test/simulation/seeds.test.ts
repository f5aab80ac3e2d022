import { expect, test } from "@jest/globals";
import { PINNED_SEEDS } from "./pinned-seeds.ts";
import { runSeed } from "./run.ts";

/** `npm run simulate` runs many more; a seed that fails here is replayed with `npm run simulate -- --seed N`. */
const SEEDS = 1_000;

test(`every job of ${SEEDS} random ones on random clusters ends, with every invariant kept`, async () => {
  const failures: string[] = [];
  for (let seed = 1; seed <= SEEDS && failures.length < 5; seed++) {
    const { problems } = await runSeed(seed);
    failures.push(...problems.map((problem) => `seed ${seed}: ${problem}`));
  }
  expect(failures).toEqual([]);
});

test.each(PINNED_SEEDS)("seed $seed, which found: $found", async ({ seed }) => {
  expect((await runSeed(seed, { wide: false })).problems).toEqual([]);
});
