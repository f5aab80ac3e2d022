import { test } from "@jest/globals";
import type { ClusterStatus } from "./cluster.ts";

/** Declares a test, or on a secure cluster one that is skipped. @param reason why it has no meaning there, which its name then says */
export function testWhereOpen({ security }: ClusterStatus, reason: string) {
  return (name: string, run: () => Promise<void>): void =>
    security === undefined ? test(name, run) : test.skip(`${name} (not on a secure cluster: ${reason})`, run);
}
