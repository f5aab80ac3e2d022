import { expect, test } from "@jest/globals";
import { PINNED_SEEDS } from "./pinned-seeds.ts";
import type { Mutation } from "./planted-faults.ts";
import { runSeed } from "./run.ts";

/** The suite `simulation` runs many more; a seed that fails here is replayed with `npm run simulate -- --seed N`. */
const SEEDS = 100;
const SEARCHES = 30;
/** The most lines about a task in one generation, in the ApplicationMaster's log. */
const MOST_LINES = 20;

test(`every job of ${SEEDS} random ones on random clusters ends, with every invariant kept, and with few lines for a task`, async () => {
  const failures: string[] = [];
  for (let seed = 1; seed <= SEEDS && failures.length < 5; seed++) {
    const lines = new LinesOfTasks();
    const { problems } = await runSeed(seed, { mutation: lines.count });
    failures.push(...[...problems, ...lines.problems()].map((problem) => `seed ${seed}: ${problem}`));
  }
  expect(failures).toEqual([]);
});

test(`so does every search of ${SEARCHES}: each trial pays for what its own programs did`, async () => {
  const failures: string[] = [];
  for (let seed = 1; seed <= SEARCHES; seed++) {
    const { problems } = await runSeed(seed, { searches: true });
    failures.push(...problems.map((problem) => `seed ${seed}: ${problem}`));
  }
  expect(failures).toEqual([]);
});

class LinesOfTasks {
  readonly #lines = new Map<string, number>();

  readonly count: Mutation = (effects) => {
    for (const effect of effects) {
      if (effect.type !== "log" || effect.fields?.task === undefined) continue;
      const subject = `${effect.fields.task} in generation ${effect.fields.generation}`;
      this.#lines.set(subject, (this.#lines.get(subject) ?? 0) + 1);
    }
    return effects;
  };

  problems(): string[] {
    return [...this.#lines].flatMap(([subject, lines]) => (lines > MOST_LINES ? [`${lines} lines of ${subject}`] : []));
  }
}

test.each(PINNED_SEEDS)("seed $seed: $lives", async ({ seed, logs, searches = false, faults }) => {
  const seen: string[] = [];
  const trace = (line: string) => seen.push(/^ +[\d.]+ {3}\w+ ([\w-]+): /.exec(line)?.[1] ?? "");
  expect((await runSeed(seed, { trace, searches, ...(faults && { faults }) })).problems).toEqual([]);
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
