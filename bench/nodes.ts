import path from "node:path";
import { packageRoot } from "../src/programs.ts";
import type { ClusterStatus } from "../test/support/cluster.ts";
import { startJava } from "./java-program.ts";
import { until } from "./until.ts";

/** A tenth of the time after which the cluster takes a node for dead. */
const reportEveryMs = 5_000;

/**
 * Adds nodes to a cluster that only report and run nothing (bench/java/Nodes.java).
 * @returns a function that removes them; the ResourceManager then counts them as lost
 */
export async function addNodes(cluster: ClusterStatus, count: number): Promise<() => Promise<void>> {
  const source = path.join(packageRoot(), "bench", "java", "Nodes.java");
  const program = startJava(cluster, [source, String(count), String(reportEveryMs)]);
  const ended = new Promise<void>((resolve) => program.on("exit", () => resolve()));
  let said = "";
  let trouble = "";
  program.stdout?.on("data", (bytes: Buffer) => {
    said += bytes.toString();
  });
  program.stderr?.on("data", (bytes: Buffer) => {
    trouble += bytes.toString();
  });
  const hopeless = () => (program.exitCode === null ? undefined : trouble.slice(-2_000));
  await until(`${count} nodes`, () => said.includes("registered") || undefined, { everyMs: 100, hopeless });
  return async () => {
    program.stdin?.end();
    await ended;
  };
}
