import type { JobText } from "../../src/job/build/load-job.ts";
import { readSetting } from "../../src/job/build/read-settings.ts";
import type { YarnApplications } from "../applications/yarn-applications.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { ClientContext } from "../context.ts";

/** A cluster, and its applications; closing them closes the cluster. */
interface Opened {
  readonly cluster: Cluster;
  readonly applications: YarnApplications;
}

/** The cluster that a job goes to: opened once, on first use, so that the login and its messages happen only once. */
export class JobCluster {
  readonly #text: JobText;
  readonly #context: ClientContext;
  #opened: Promise<Opened> | undefined;

  constructor(text: JobText, context: ClientContext) {
    this.#text = text;
    this.#context = context;
  }

  /** @throws UserError when there is none */
  open(): Promise<Opened> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    opened?.applications.close();
  }

  async #open(): Promise<Opened> {
    const [{ clusterOf }, { YarnApplications }] = await Promise.all([
      import("../cluster/cluster.ts"),
      import("../applications/yarn-applications.ts"),
    ]);
    const cluster = await clusterOf(this.#text, this.#context);
    const stagingDir = readSetting(this.#text.settings, "tony.staging-dir");
    return { cluster, applications: new YarnApplications(cluster, stagingDir, this.#context.now) };
  }
}
