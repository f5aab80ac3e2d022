import type { Configuration } from "../conf/configuration.ts";
import { writeText, writeVint } from "../security/writable.ts";

const patternKey = "mapreduce.job.send-token-conf";

/**
 * The part of a submitter's configuration with which the ResourceManager renews tokens of nameservices that are not in its own: the
 * properties whose whole names match `mapreduce.job.send-token-conf` (org.apache.hadoop.mapred.YARNRunner#setTokenRenewerConf). Undefined
 * where that is not set.
 * @returns the content of ContainerLaunchContext's `tokens_conf`: org.apache.hadoop.conf.Configuration#write
 * @throws ConfigurationError for a value that is not a pattern
 */
export function tokensConf(configuration: Configuration): Uint8Array | undefined {
  const pattern = configuration.get(patternKey);
  if (!pattern) return undefined;
  const expression = patternOf(pattern, configuration);
  const chosen = Object.entries(configuration.values()).filter(([key]) => expression.test(key));
  const properties = chosen.flatMap(([key, value]) => [writeText(key), writeText(value), noSources]);
  return Buffer.concat([writeVint(chosen.length), ...properties]);
}

/** The sources of a property are an array, and −1 means none (WritableUtils#writeCompressedStringArray). */
const noSources = Uint8Array.of(0xff, 0xff, 0xff, 0xff);

function patternOf(pattern: string, configuration: Configuration): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`);
  } catch {
    throw configuration.invalid(patternKey, `must be a regular expression over names of keys, not "${pattern}"`);
  }
}
