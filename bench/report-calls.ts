import path from "node:path";
import type { ResourceManagerClient } from "../src/hadoop/yarn/resource-manager.ts";
import { packageRoot } from "../src/programs.ts";
import type { ClusterStatus } from "../test/support/cluster.ts";
import { inFlight } from "./in-flight.ts";
import { java } from "./java-program.ts";

const atOnce = 32;
const warmUpCalls = 2_000;
const countedCalls = 5_000;

/** Calls getApplicationReport with our client, 32 calls in flight. @returns calls per second */
export async function ownReportCalls(client: ResourceManagerClient, id: string): Promise<number> {
  await inFlight(atOnce, warmUpCalls, () => client.report(id));
  const beganAt = performance.now();
  await inFlight(atOnce, countedCalls, () => client.report(id));
  return countedCalls / ((performance.now() - beganAt) / 1000);
}

/** The same with Hadoop's own client, in a process of its own. @returns calls per second */
export async function javaReportCalls(cluster: ClusterStatus, id: string): Promise<number> {
  const source = path.join(packageRoot(), "bench", "java", "ReportCalls.java");
  return Number(await java(cluster, [source, id, ...[atOnce, warmUpCalls, countedCalls].map(String)]));
}
