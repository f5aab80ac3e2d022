import type { Finding } from "./finding.ts";

/** Clocks further apart than this make Kerberos refuse and times in logs confusing. */
const largestSkewMs = 30_000;

/** When a request was sent and when its answer came, by this machine's clock. */
export interface RequestTime {
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * How far the clocks are apart, by the time that HDFS gave a file in a request. A slow request is no difference: only what lies outside
 * its time is.
 */
export function clockFinding(modificationTimeMs: number, { startMs, endMs }: RequestTime): Finding {
  const skewMs = Math.max(startMs - modificationTimeMs, modificationTimeMs - endMs, 0);
  if (skewMs === 0) return { subject: "clock", state: "well", found: "agrees with HDFS's" };
  const found = `differs from HDFS's by ${(skewMs / 1000).toFixed(1)} s`;
  if (skewMs <= largestSkewMs) return { subject: "clock", state: "well", found };
  return { subject: "clock", state: "remark", found, remedy: "set this machine's clock, or the cluster's, by NTP" };
}
