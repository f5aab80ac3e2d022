import { anApplication, withResourceManager } from "../application.ts";
import { atLeast } from "../figures.ts";
import type { Measurement } from "../measurement.ts";
import { javaReportCalls, ownReportCalls } from "../report-calls.ts";

const ours = "getApplicationReport, 32 in flight";
const theirs = "the same by Java's YarnClient";
const ratio = "getApplicationReport, ours ÷ Java's";

/** Both clients ask for the same application, one after the other. */
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
      const javaRate = await javaReportCalls(cluster, id);
      const rate = await ownReportCalls(client, id);
      return { [ours]: rate, [theirs]: javaRate, [ratio]: rate / javaRate };
    });
  },
};
