import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Cluster, type ClusterOptions } from "../../../client/cluster/cluster.ts";
import { variablesOf } from "../../../client/context.ts";
import { JobCluster } from "../../../client/submission/job-cluster.ts";
import { ownerName } from "../../../src/hadoop/process-owner.ts";
import type { NodeReport } from "../../../src/hadoop/yarn/records.ts";
import { type JobText, readJob } from "../../../src/job/build/load-job.ts";
import type { SubmissionOptions } from "../../../src/job/build/submission.ts";
import { StandInManager, type SubmittedOnWire } from "../stand-in-manager.ts";
import { type RecordedContext, recordedContext } from "../support.ts";

/** A node of 8 GiB that runs. */
export function aNode(host: string, changes: Partial<NodeReport> = {}): NodeReport {
  const of = (memoryMiB: number, vcores: number) => ({ memoryMiB, vcores, others: {} });
  return {
    ...{ nodeId: `${host}:45454`, host, httpAddress: "", rack: "", state: "RUNNING", healthReport: "" },
    ...{ used: of(0, 0), capability: of(8_192, 4), containerCount: 0, labels: [] },
    ...changes,
  };
}

/** A cluster whose staging folders are on this machine, and a person who submits to it. */
export class StandInCluster {
  readonly folder: string;
  readonly staging: string;
  readonly manager: StandInManager;
  readonly context: RecordedContext;
  /** Who submits. */
  readonly applicant = ownerName();
  readonly #opened: Cluster[] = [];

  private constructor(manager: StandInManager, folder: string, isTerminal: boolean) {
    this.manager = manager;
    this.folder = folder;
    this.staging = path.join(folder, "staging");
    const environment = {
      HADOOP_CONF_DIR: manager.configuration,
      HADOOP_USER_NAME: this.applicant,
      XDG_CACHE_HOME: path.join(folder, "cache"),
      XDG_STATE_HOME: path.join(folder, "state"),
    };
    this.context = recordedContext({ environment, workingDirectory: folder, terminal: isTerminal });
  }

  static async start({ isTerminal = false } = {}): Promise<StandInCluster> {
    const folder = mkdtempSync(path.join(tmpdir(), "tony-submission-"));
    const manager = await StandInManager.start(folder);
    manager.nodes = [aNode("n1"), aNode("n2")];
    return new StandInCluster(manager, folder, isTerminal);
  }

  /** The same, whose jobs have succeeded as soon as they are taken. */
  static async startWithSuccess(): Promise<StandInCluster> {
    const there = await StandInCluster.start();
    there.manager.taken = { state: "FINISHED", finalStatus: "SUCCEEDED", finishTimeMs: there.context.now() - 60_000 };
    return there;
  }

  /** As the person reaches it, until `stop`. */
  async open(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = await Cluster.open(this.context, options);
    this.#opened.push(cluster);
    return cluster;
  }

  async stop(): Promise<void> {
    for (const cluster of this.#opened) cluster.close();
    await this.manager.stop();
    rmSync(this.folder, { recursive: true });
  }

  /** A job of two workers, with these settings too. */
  job(settings: Readonly<Record<string, string>> = {}, options: Omit<SubmissionOptions, "conf"> = {}): JobText {
    const all = {
      "tony.application.name": "bert",
      "tony.application.framework": "generic",
      "tony.worker.instances": "2",
      "tony.worker.memory": "1g",
      "tony.worker.command": "true",
      "tony.staging-dir": `file://${this.staging}`,
      "tony.node.binary": "local:/opt/node",
      ...settings,
    };
    const conf = Object.entries(all).map(([key, value]) => `${key}=${value}`);
    return readJob({ ...options, conf }, { variables: variablesOf(this.context) });
  }

  /** A file that a job may name. */
  file(name: string, content: string): string {
    const file = path.join(this.folder, name);
    writeFileSync(file, content);
    return file;
  }

  /** What there is in the staging folder of an application; undefined where that is not there. */
  staged(id: string): string[] | undefined {
    return this.applications().includes(id) ? readdirSync(path.join(this.staging, id)).sort() : undefined;
  }

  read(id: string, name: string): { readonly json: unknown; readonly permission: number } {
    const file = path.join(this.staging, id, name);
    return { json: JSON.parse(readFileSync(file, "utf8")), permission: statSync(file).mode & 0o777 };
  }

  sha256(id: string, name: string): string {
    return createHash("sha256")
      .update(readFileSync(path.join(this.staging, id, name)))
      .digest("hex");
  }

  /** Those that have a staging folder. */
  applications(): string[] {
    return this.#below("").filter((name) => name.startsWith("application_"));
  }

  /** The names of the files that the cache has. */
  cached(): string[] {
    return this.#below("cache/sha256")
      .flatMap((hash) => this.#below(`cache/sha256/${hash}`))
      .sort();
  }

  #below(folder: string): string[] {
    try {
      return readdirSync(path.join(this.staging, folder));
    } catch {
      return [];
    }
  }
}

/** Says how often it was asked for, and closed. */
export class WatchedCluster extends JobCluster {
  readonly told: string[] = [];

  override open(): ReturnType<JobCluster["open"]> {
    this.told.push("opened");
    return super.open();
  }

  override async close(): Promise<void> {
    this.told.push("closed");
    await super.close();
  }
}

/** What an application's first container is started with. */
export function environmentOf({ am_container_spec: launch }: SubmittedOnWire): Readonly<Record<string, string>> {
  return Object.fromEntries((launch?.environment ?? []).map(({ key, value }) => [key ?? "", value ?? ""]));
}
