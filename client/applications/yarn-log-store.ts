import { ExitCode, UserError } from "../../src/errors.ts";
import { errorCode } from "../../src/hadoop/errors.ts";
import {
  findAggregatedLogs,
  logsAreAggregated,
  readAggregatedLogs,
  userLogFolder,
} from "../../src/hadoop/yarn/aggregated-logs.ts";
import type { NodeLogFile } from "../../src/hadoop/yarn/log-files/node-log-file.ts";
import type { ApplicationReport } from "../../src/hadoop/yarn/records.ts";
import type { LogStore, StoredLog } from "../../src/logs/log-store.ts";
import type { Cluster } from "../cluster/cluster.ts";

/** The logs of an application that the NodeManagers uploaded. */
export class YarnLogStore implements LogStore {
  readonly pending: string | undefined;
  readonly isAtHand = false;
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
      throw this.#explain(error);
    }
  }

  #explain(error: unknown): unknown {
    switch (errorCode(error)) {
      case "FILE_SYSTEM_UNSUPPORTED":
        return this.#elsewhere(error);
      case "ACCESS_DENIED":
        return this.#closed(error);
      default:
        return this.#cluster.explain(error);
    }
  }

  /** NodeManagers store them for their owner and for Hadoop's administrators, whatever the job's access list says. */
  #closed(cause: unknown): UserError {
    const { user, id } = this.#report;
    const place = userLogFolder(this.#cluster.configuration, user);
    return new UserError(
      `HDFS lets only ${user} read the stored logs of ${id} (${place})\n` +
        "  Users named in the job's tony.application.acl.view see them while it runs, and later on YARN's own log pages",
      { code: "ACCESS_DENIED", exitCode: ExitCode.cluster, cause },
    );
  }

  /** YARN keeps the logs in a store that this client does not read. */
  #elsewhere(cause: unknown): UserError {
    const { configuration } = this.#cluster;
    const { user, id } = this.#report;
    const folder = userLogFolder(configuration, user);
    const place = folder.startsWith("/")
      ? `${configuration.get("fs.defaultFS")?.replace(/\/+$/, "")}${folder}`
      : folder;
    return new UserError(
      `The logs are in ${place}, a file system that tony-ts does not read\n  Hadoop's own client does: yarn logs -applicationId ${id}`,
      { code: "LOGS_ELSEWHERE", exitCode: ExitCode.cluster, cause },
    );
  }

  #files(): Promise<NodeLogFile[]> {
    const { configuration, fileSystems } = this.#cluster;
    return findAggregatedLogs(fileSystems, configuration, this.#report.user, this.#report.id);
  }
}
