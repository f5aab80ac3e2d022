import {
  findAggregatedLogs,
  logsAreAggregated,
  type NodeLogFile,
  readAggregatedLogs,
} from "../../src/hadoop/yarn/aggregated-logs.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { LogStore, StoredLog } from "./log-store.ts";

/** What the NodeManagers uploaded of an application's logs. */
export class YarnLogStore implements LogStore {
  readonly pending: string | undefined;
  readonly #cluster: Cluster;
  readonly #report: ApplicationReport;

  constructor(cluster: Cluster, report: ApplicationReport) {
    this.#cluster = cluster;
    this.#report = report;
    this.pending = logsAreAggregated(cluster.configuration)
      ? "waiting for the NodeManagers to upload the logs"
      : undefined;
  }

  async *logs(wanted: (containerId: string) => boolean): AsyncGenerator<StoredLog> {
    try {
      for (const file of await this.#files()) yield* readAggregatedLogs(file, wanted);
    } catch (error) {
      throw this.#cluster.explain(error);
    }
  }

  #files(): Promise<NodeLogFile[]> {
    const { configuration, fileSystems } = this.#cluster;
    return findAggregatedLogs(fileSystems, configuration, this.#report.user, this.#report.id);
  }
}
