import { buffer } from "node:stream/consumers";
import type { WallClock } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { hasCode } from "../../src/hadoop/hdfs/errors.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { type Credentials, renewedCredentials } from "../../src/hadoop/security/credentials.ts";
import { delegationOf } from "../../src/hadoop/security/delegation.ts";
import { readTokenFile } from "../../src/hadoop/security/token-file.ts";
import type { Log } from "../../src/log.ts";

export interface FreshTokensOptions {
  /** As YARN gave them to this attempt. */
  readonly given: Credentials;
  readonly clock: WallClock;
  readonly log: Log;
  /** Called when the tokens have been replaced by newer ones. */
  readonly replaced: () => void;
}

export interface TokenFile {
  readonly fileSystem: Pick<FileSystem, "stat" | "open">;
  readonly path: string;
}

/**
 * The credentials of an ApplicationMaster. Its delegation tokens are replaced, before they end, by those that the client leaves in the
 * staging folder, or that the AM obtains itself (keytab/). YARN knows nothing of that: a later attempt begins with the submission's tokens
 * and looks there as this one does.
 */
export class FreshTokens {
  readonly #options: FreshTokensOptions;
  #held: Credentials;
  /** Modification time of the file that was read last. */
  #readTimeMs: number | undefined;
  #hasFailed = false;

  constructor(options: FreshTokensOptions) {
    this.#options = options;
    this.#held = options.given;
  }

  /** The newest. */
  readonly held = (): Credentials => this.#held;

  /** Whether they are newer than what YARN gave. */
  get areReplaced(): boolean {
    return this.#held !== this.#options.given;
  }

  /** Takes newer tokens in place of those before. */
  take(tokens: Credentials["tokens"]): void {
    const { log, replaced } = this.#options;
    this.#held = renewedCredentials(this.#held, tokens);
    log.info("tokens-replaced", `${tokens.length} delegation tokens were replaced by newer ones.`);
    replaced();
  }

  /** Looks for newer ones now and after each pause, for as long as this process runs. */
  watch(file: TokenFile, pauseMs: number): void {
    void this.look(file).then(() => this.#options.clock.after(pauseMs, () => this.watch(file, pauseMs)));
  }

  /** Reads the file if it has changed. What cannot be read now is read the next time. */
  async look({ fileSystem, path }: TokenFile): Promise<void> {
    const { log } = this.#options;
    try {
      const { modificationTimeMs } = await fileSystem.stat(path);
      if (modificationTimeMs === this.#readTimeMs) return;
      const { tokens } = readTokenFile(await buffer(await fileSystem.open(path)));
      this.#readTimeMs = modificationTimeMs;
      this.#hasFailed = false;
      this.take(tokens);
    } catch (error) {
      if (hasCode(error, "FILE_NOT_FOUND") || this.#hasFailed) return;
      this.#hasFailed = true;
      log.warn("tokens-unreadable", `Newer delegation tokens cannot be read: ${errorMessage(error)}`);
    }
  }
}

const longestPauseMs = 60_000;
const shortestPauseMs = 1_000;

/** How long to wait between looks: a newer token is found within a twentieth of a token's life. */
export function lookForTokensMs({ tokens }: Credentials): number {
  const lives = tokens.flatMap(({ token }) => {
    const delegation = delegationOf(token);
    return delegation === undefined ? [] : [delegation.maximumMs - delegation.issuedMs];
  });
  return Math.max(shortestPauseMs, Math.min(longestPauseMs, ...lives.map((lifeMs) => lifeMs / 20)));
}
