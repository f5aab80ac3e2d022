import { expect, test } from "@jest/globals";
import { PINNED_SEEDS } from "./pinned-seeds.ts";
import { runSeed } from "./run.ts";

/** The suite `simulation` runs many more; a seed that fails here is replayed with `npm run simulate -- --seed N`. */
const SEEDS = 100;

test(`every job of ${SEEDS} random ones on random clusters ends, with every invariant kept`, async () => {
  const failures: string[] = [];
  for (let seed = 1; seed <= SEEDS && failures.length < 5; seed++) {
    const { problems } = await runSeed(seed);
    failures.push(...problems.map((problem) => `seed ${seed}: ${problem}`));
  }
  expect(failures).toEqual([]);
});

test.each(PINNED_SEEDS)("seed $seed: $lives", async ({ seed, logs }) => {
  const seen: string[] = [];
  const trace = (line: string) => seen.push(/^ +[\d.]+ {3}\w+ ([\w-]+): /.exec(line)?.[1] ?? "");
  expect((await runSeed(seed, { trace })).problems).toEqual([]);
  expect(inOrder(seen, logs)).toEqual(logs);
});

/** Those of the events that come in this order. */
function inOrder(seen: readonly string[], events: readonly string[]): string[] {
  let from = 0;
  return events.filter((event) => {
    const at = seen.indexOf(event, from);
    from = at < 0 ? from : at + 1;
    return at >= 0;
  });
}
