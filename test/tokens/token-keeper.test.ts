import { describe, expect, test } from "@jest/globals";
import { noNewTokens } from "../../client/tokens/job-token-keeper.ts";
import { Configuration } from "../../src/hadoop/conf/configuration.ts";
import {
  endOf,
  longestLifeMs,
  renewIntervalMs,
  TokenKeeper,
  type TokenKeeperOptions,
} from "../../src/tokens/token-keeper.ts";
import { aDelegationToken } from "../support/tokens.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** With seven days at most. */
const issuedAt = (atMs: number) => aDelegationToken(atMs, atMs + 7 * dayMs);

/** Runs a keeper whose time passes in its sleeps until that time, and tells in hours what happened when. */
async function keptUntil(endMs: number, changes: (now: () => number) => Partial<TokenKeeperOptions> = () => ({})) {
  let nowMs = 0;
  const handed: number[] = [];
  const problems: string[] = [];
  const now = () => nowMs;
  const keeper = new TokenKeeper({
    endsAtMs: async () => 7 * dayMs,
    renewIntervalMs: dayMs,
    obtain: async () => [issuedAt(nowMs)],
    hand: async () => {
      handed.push(nowMs / hourMs);
    },
    problem: (error, leftMs) => problems.push(noNewTokens(error, leftMs)),
    now,
    clock: {
      sleep: async (delayMs) => {
        nowMs += delayMs;
        if (nowMs > endMs) keeper.stop();
      },
    },
    ...changes(now),
  });
  await keeper.run();
  return { handed, problems };
}

describe("the delegation tokens of a job that is followed", () => {
  test("are renewed by the ResourceManager for a week, and then replaced each day, six hours before they end", async () => {
    const { handed } = await keptUntil(9 * dayMs);
    expect(handed).toEqual([162, 180, 198, 216]);
  });

  test("are not asked for without a pause where the issuer's clock is far behind", async () => {
    const { handed } = await keptUntil(7 * dayMs, () => ({ obtain: async () => [issuedAt(-30 * dayMs)] }));
    expect(handed).toHaveLength(13);
  });

  test("are asked for again soon where there are none yet; a person is told once", async () => {
    const failingUntilMs = 164 * hourMs;
    const { handed, problems } = await keptUntil(7 * dayMs, (now) => ({
      obtain: async () => {
        if (now() < failingUntilMs) throw new Error("the ticket has expired");
        return [issuedAt(now())];
      },
    }));
    expect(handed).toEqual([164]);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/tokens end in 6 h.*: the ticket has expired\n {2}Get a new ticket \(kinit\)/);
  });
});

test("tokens end with the first of them, which nobody can make live longer than its server has said", () => {
  const [long, short] = [aDelegationToken(hourMs, 7 * dayMs), aDelegationToken(hourMs, 3 * hourMs)];
  expect(endOf([long], dayMs)).toBe(hourMs + dayMs);
  expect(endOf([long, short], dayMs)).toBe(3 * hourMs);
  expect(endOf([], dayMs)).toBeUndefined();
});

test("a token lives as long as the configuration of its server says, a day unless it is renewed, and a week at most", () => {
  const hadoop = {
    "yarn.resourcemanager.delegation.token.renew-interval": "3600000",
    "dfs.namenode.delegation.token.max-lifetime": "7200000",
  };
  const lives = [new Configuration(), new Configuration().withValues(hadoop)].map((configuration) => [
    renewIntervalMs(configuration),
    longestLifeMs(configuration),
  ]);
  expect(lives).toEqual([
    [dayMs, 7 * dayMs],
    [hourMs, 2 * hourMs],
  ]);
});
