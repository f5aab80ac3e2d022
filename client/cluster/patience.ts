import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import { errorMessage } from "../../src/hadoop/errors.ts";
import type { CallTrouble } from "../../src/hadoop/rpc/client.ts";
import type { RetryPolicy } from "../../src/hadoop/rpc/retry.ts";
import { durationWords } from "../../src/job/reasons/words.ts";
import type { Output } from "../output/output.ts";

const maxWaitKey = "yarn.resourcemanager.connect.max-wait.ms";
const firstDelayMs = 200;

/** Two tries. */
export const briefPatience: RetryPolicy = { giveUpAfterMs: 1_000, firstDelayMs, longestDelayMs: 500 };

/**
 * How long a ResourceManager that does not answer is asked again; reads the same settings as Hadoop's own clients
 * (org.apache.hadoop.yarn.client.RMProxy), where a maximum of −1 means for ever. Their interval is the upper limit here: most lost answers
 * arrive at the second try.
 */
export function configuredPatience(configuration: Configuration): RetryPolicy {
  const maxWaitMs = configuration.getInteger(maxWaitKey, 900_000);
  const intervalMs = configuration.getInteger("yarn.resourcemanager.connect.retry-interval.ms", 30_000);
  const giveUpAfterMs = maxWaitMs < 0 ? Number.POSITIVE_INFINITY : maxWaitMs;
  const longestDelayMs = Math.max(1, intervalMs);
  return { giveUpAfterMs, firstDelayMs: Math.min(firstDelayMs, longestDelayMs), longestDelayMs };
}

/** Shows what a command waits for while a call is retried; removes it once the call is answered. */
export function showTrouble(
  output: Output,
  where: string,
  trouble: CallTrouble | undefined,
  patience: RetryPolicy,
): void {
  if (trouble === undefined) output.endWait();
  else if (patience !== briefPatience) output.waitAside(troubleWait(where, trouble, patience));
}

function troubleWait(where: string, { elapsedMs, error }: CallTrouble, { giveUpAfterMs }: RetryPolicy) {
  const limit = giveUpAfterMs === Number.POSITIVE_INFINITY ? "without end" : `for ${durationWords(giveUpAfterMs)}`;
  const since = elapsedMs < 1_000 ? "does not answer" : `has not answered for ${durationWords(elapsedMs)}`;
  const line = `The ResourceManager at ${where} ${since}; still trying, ${limit} (${maxWaitKey})`;
  const why = errorMessage(error);
  return { lines: [`${line}: ${why}`], cause: "the ResourceManager", line, change: "", facts: [why] };
}
