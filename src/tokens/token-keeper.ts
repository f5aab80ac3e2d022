import type { MonotonicClock } from "../hadoop/clock.ts";
import type { Configuration } from "../hadoop/conf/configuration.ts";
import type { NamedToken } from "../hadoop/security/credentials.ts";
import { delegationOf } from "../hadoop/security/delegation.ts";

export interface TokenKeeperOptions {
  /** When the first of the job's tokens expires, in milliseconds since the epoch. */
  readonly endsAtMs: () => Promise<number>;
  /** How long a token lives without renewal. */
  readonly renewIntervalMs: number;
  /** Obtains new tokens for the same services. */
  readonly obtain: () => Promise<readonly NamedToken[]>;
  /** Passes them to the job. */
  readonly hand: (tokens: readonly NamedToken[]) => Promise<void>;
  /**
   * Called the first time that they cannot be obtained or passed on.
   * @param leftMs until the current ones expire; 0: they have expired
   */
  readonly problem: (error: unknown, leftMs: number) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly clock: Pick<MonotonicClock, "sleep">;
}

/** New tokens are obtained when the current ones have this fraction of a renewal interval left. */
const leftOfInterval = 0.25;
/** After a failure they are tried again after this fraction of it. */
const againAfter = 1 / 48;

/**
 * Keeps a job supplied with delegation tokens for as long as the process that runs it can log in by Kerberos, beyond the maximum lifetime
 * of those submitted with the job. The ResourceManager does not know the later ones, so they live for one renewal interval and are replaced
 * within it.
 */
export class TokenKeeper {
  readonly #options: TokenKeeperOptions;
  readonly #stopping = new AbortController();

  constructor(options: TokenKeeperOptions) {
    this.#options = options;
  }

  /** Resolves after `stop`. */
  async run(): Promise<void> {
    const { renewIntervalMs, now } = this.#options;
    let endsAtMs: number | undefined = await this.#options.endsAtMs();
    await this.#until((endsAtMs ?? 0) - leftOfInterval * renewIntervalMs);
    for (let hasFailed = false; endsAtMs !== undefined && !this.#stopped; ) {
      const tokens = await this.#replaced(endsAtMs, hasFailed);
      hasFailed = tokens === undefined;
      if (tokens !== undefined) endsAtMs = endOf(tokens, renewIntervalMs);
      // This also covers an issuer's clock that is so far behind that the new tokens seem to have expired.
      const earliestMs = now() + againAfter * renewIntervalMs;
      const dueMs = (endsAtMs ?? 0) - leftOfInterval * renewIntervalMs;
      await this.#until(hasFailed ? earliestMs : Math.max(earliestMs, dueMs));
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  get #stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #until(timeMs: number): Promise<void> {
    const { now, clock } = this.#options;
    const longestSleepMs = 2 ** 31 - 1;
    for (let leftMs = timeMs - now(); leftMs > 0 && !this.#stopped; leftMs = timeMs - now())
      await clock.sleep(Math.min(leftMs, longestSleepMs), this.#stopping.signal);
  }

  /** Undefined if it failed. */
  async #replaced(endsAtMs: number, isAgain: boolean): Promise<readonly NamedToken[] | undefined> {
    const { obtain, hand, problem, now } = this.#options;
    try {
      const tokens = await obtain();
      await hand(tokens);
      return tokens;
    } catch (error) {
      if (!isAgain) problem(error, Math.max(0, endsAtMs - now()));
      return undefined;
    }
  }
}

/**
 * When the first of some tokens expires if nobody renews them, in milliseconds since the epoch; undefined if no token tells.
 * @param lifeMs how long a token lives without renewal
 */
export function endOf(tokens: readonly NamedToken[], lifeMs: number): number | undefined {
  const ends = tokens.flatMap(({ token }) => {
    const delegation = delegationOf(token);
    return delegation === undefined ? [] : [Math.min(delegation.maximumMs, delegation.issuedMs + lifeMs)];
  });
  return ends.length === 0 ? undefined : Math.min(...ends);
}

const dayMs = 86_400_000;

/** Servers do not report these, but a cluster's configuration files are the same everywhere. */
const intervalKeys = [
  "dfs.namenode.delegation.token.renew-interval",
  "yarn.resourcemanager.delegation.token.renew-interval",
] as const;
const longestKeys = [
  "dfs.namenode.delegation.token.max-lifetime",
  "yarn.resourcemanager.delegation.token.max-lifetime",
] as const;

/** How long a delegation token lives without renewal, as far as this machine's copy of the servers' configuration tells. */
export function renewIntervalMs(configuration: Configuration): number {
  return shortest(configuration, intervalKeys, dayMs);
}

/** How long a token lives at most, however often it is renewed. */
export function longestLifeMs(configuration: Configuration): number {
  return shortest(configuration, longestKeys, 7 * dayMs);
}

function shortest(configuration: Configuration, keys: readonly string[], hadoopsMs: number): number {
  return Math.min(...keys.map((key) => configuration.getDurationMs(key, "ms", hadoopsMs)));
}
