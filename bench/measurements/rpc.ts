import path from "node:path";
import type { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import { packageRoot } from "../../src/programs.ts";
import { withResourceManager } from "../application.ts";
import { atLeast } from "../figures.ts";
import { inFlight } from "../in-flight.ts";
import { java } from "../java-program.ts";
import type { Measurement } from "../measurement.ts";

const ours = "getApplicationReport, 32 in flight";
const theirs = "the same by Java's YarnClient";
const ratio = "getApplicationReport, ours ÷ Java's";

const atOnce = 32;
const warmUpCalls = 2_000;
const countedCalls = 5_000;

/** Both ask for the same application, one after the other. */
export const hadoopRpc: Measurement = {
  name: "rpc",
  what: "calls to the ResourceManager beside Hadoop's own client",
  warmUps: 1,
  figures: [
    { name: ours, unit: "calls/s" },
    { name: theirs, unit: "calls/s" },
    { name: ratio, unit: "×", budget: atLeast(1.2) },
  ],
  async run(clusterOf) {
    const cluster = await clusterOf();
    return await withResourceManager(cluster, async (client) => {
      const id = await anApplication(client);
      const source = path.join(packageRoot(), "bench", "java", "ReportCalls.java");
      const javaRate = Number(await java(cluster, [source, id, ...[atOnce, warmUpCalls, countedCalls].map(String)]));
      await inFlight(atOnce, warmUpCalls, () => client.report(id));
      const beganAt = performance.now();
      await inFlight(atOnce, countedCalls, () => client.report(id));
      const rate = countedCalls / ((performance.now() - beganAt) / 1000);
      return { [ours]: rate, [theirs]: javaRate, [ratio]: rate / javaRate };
    });
  },
};

/** One that is known to the ResourceManager and does nothing: of no queue that exists, it is refused and remembered. */
async function anApplication(client: ResourceManagerClient): Promise<string> {
  const [known] = await client.reports();
  if (known !== undefined) return known.id;
  const { id } = await client.newApplication();
  await client
    .submit({
      id,
      name: "bench",
      queue: "none",
      masterLaunch: { localResources: {}, environment: {}, commands: ["true"], credentials: new Uint8Array() },
      masterResource: { memoryMiB: 64, vcores: 1, others: {} },
      maxAppAttempts: 1,
    })
    .catch(() => undefined);
  return id;
}
