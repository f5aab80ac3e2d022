import { monotonicClock } from "../../src/hadoop/clock.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import { writeTokenFile } from "../../src/hadoop/security/token-file.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import { parseJobFile } from "../../src/job/stored/parse-job-file.ts";
import { jobFileName, tokensFileName } from "../../src/job/stored/stored-job.ts";
import { freshTokens, usedFileSystems } from "../../src/tokens/token-issuers.ts";
import { longestLifeMs, renewIntervalMs, TokenKeeper, type TokenKeeperOptions } from "../../src/tokens/token-keeper.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { StagingFolder } from "../staging/staging-folder.ts";
import type { TokenCluster } from "./job-tokens.ts";

/**
 * Replaces the delegation tokens of a job of ours; undefined where there are none, or where this process itself has only tokens.
 * @param sinceMs when it was submitted, milliseconds since the epoch
 */
export function jobTokenKeeper(
  cluster: TokenCluster & Pick<Cluster, "tell">,
  stagingFolder: () => Promise<Pick<StagingFolder, "read" | "replace" | "writtenAtMs">>,
  sinceMs: number,
  now: () => number,
  clock: TokenKeeperOptions["clock"] = monotonicClock,
): TokenKeeper | undefined {
  const { configuration, isSecured, given } = cluster;
  if (!isSecured || given !== undefined) return undefined;
  const intervalMs = renewIntervalMs(configuration);
  return new TokenKeeper({
    renewIntervalMs: intervalMs,
    endsAtMs: async () => {
      // Another client may have replaced them, or an earlier run of this one.
      const replacedAtMs = await stagingFolder()
        .then((folder) => folder.writtenAtMs(tokensFileName))
        .catch(() => undefined);
      return replacedAtMs === undefined ? sinceMs + longestLifeMs(configuration) : replacedAtMs + intervalMs;
    },
    obtain: async () => {
      const job = parseJobFile((await (await stagingFolder()).read(jobFileName)).toString());
      return await freshTokens(cluster, usedFileSystems(job.spec, job.files, job.stagingUrl, job.hdfsEndpoint));
    },
    hand: async (tokens) => {
      const file = writeTokenFile({ tokens, secrets: new Map() });
      await (await stagingFolder()).replace(tokensFileName, file);
    },
    problem: (error, leftMs) => cluster.tell(noNewTokens(error, leftMs)),
    now,
    clock,
  });
}

/** @param leftMs until the current ones expire; 0: they have expired */
export function noNewTokens(error: unknown, leftMs: number): string {
  const when = leftMs === 0 ? "have ended" : `end in ${durationWords(leftMs)}`;
  return `The job's delegation tokens ${when}, and there are no new ones yet: ${errorMessage(error)}\n  Get a new ticket (kinit) while this follows the job: it tries again`;
}
