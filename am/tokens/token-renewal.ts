import { wallClock } from "../../src/hadoop/clock.ts";
import { Configuration } from "../../src/hadoop/conf/configuration.ts";
import type { FileSystem } from "../../src/hadoop/hdfs/file-system.ts";
import { configuredAuthentication } from "../../src/hadoop/security/configured-credentials.ts";
import type { JobFile } from "../../src/job/stored/job-file.ts";
import type { Log } from "../../src/log.ts";
import { KeytabTokens, type KeytabTokensOptions } from "../keytab/keytab-tokens.ts";
import type { Staging } from "../storage/staging.ts";
import { type FreshTokens, lookForTokensMs } from "./fresh-tokens.ts";

export interface TokenRenewal {
  readonly job: JobFile;
  readonly tokens: FreshTokens;
  readonly staging: Pick<Staging, "tokensFile" | "keytab">;
  /** The file system of the staging folder. */
  readonly fileSystem: FileSystem;
  readonly log: Log;
  /** The clock by which tokens are obtained. */
  readonly keytabClock?: KeytabTokensOptions["clock"];
}

/**
 * From now on tokens are replaced before they end, on a secure cluster: by those that a client leaves in the staging folder, and by those
 * that the job's own keytab obtains.
 */
export function renewTokens({ job, tokens, staging, fileSystem, log, keytabClock: clock }: TokenRenewal): void {
  if (configuredAuthentication(new Configuration().withValues(job.hadoop)) === "simple") return;
  tokens.watch({ fileSystem, path: staging.tokensFile }, lookForTokensMs(tokens.held()));
  if (job.keytab === undefined) return;
  const keytabTokens = new KeytabTokens({
    job,
    keytab: job.keytab,
    read: () => staging.keytab(),
    held: tokens.held,
    take: (newer) => tokens.take(newer),
    log,
    now: () => wallClock.nowMs(),
    ...(clock && { clock }),
  });
  void keytabTokens.run();
}
