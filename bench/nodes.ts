import path from "node:path";
import { packageRoot } from "../src/programs.ts";
import type { ClusterStatus } from "../test/support/cluster.ts";
import { startJava } from "./java-program.ts";
import { until } from "./until.ts";

/** A tenth of what the cluster takes for a node's death. */
const reportEveryMs = 5_000;

/**
 * Adds nodes to a cluster that are no more than what they say (bench/java/Nodes.java).
 * @returns what takes them away: the ResourceManager counts them as lost then
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
