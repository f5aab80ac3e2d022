import { expect, test } from "@jest/globals";
import { runRivals } from "./rivals.ts";

const SEEDS = 20;
const STRUCK_SEEDS = 20;
/** The longest pause before a gang asks again, as it differs from job to job. */
const LONGEST_PAUSE_MS = 450_000;
/** What launches, registrations and YARN's heartbeats take. */
const GATHERING_MS = 30_000;

test(`of two gangs that do not fit on a cluster together one runs after the other, ${SEEDS} times`, async () => {
  const problems: string[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const result = await runRivals(seed);
    const { holdMs, firstWaitedMs, secondWaitedMs } = result;
    problems.push(...result.problems.map((problem) => `seed ${seed}: ${problem}`));
    if (firstWaitedMs > 2 * (holdMs + LONGEST_PAUSE_MS)) {
      problems.push(`seed ${seed}: none of them could start for ${firstWaitedMs} ms, with a hold of ${holdMs} ms`);
    }
    if (secondWaitedMs > LONGEST_PAUSE_MS + GATHERING_MS) {
      problems.push(`seed ${seed}: the second started ${secondWaitedMs} ms after the end of the first`);
    }
  }
  expect(problems).toEqual([]);
});

test(`both end as they should also where programs, containers, ApplicationMasters or services fail, ${STRUCK_SEEDS} times`, async () => {
  const problems: string[] = [];
  for (let seed = 1; seed <= STRUCK_SEEDS; seed++) {
    const result = await runRivals(seed, { areStruck: true });
    problems.push(...result.problems.map((problem) => `seed ${seed}: ${problem}`));
  }
  expect(problems).toEqual([]);
});
