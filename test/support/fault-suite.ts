import { afterEach } from "@jest/globals";
import { type ClusterNode, type ClusterStatus, clusterTool, controlDaemon } from "./cluster.ts";
import { FaultJob, type FaultJobOptions } from "./fault-job.ts";
import { killAll, processesWhere } from "./processes.ts";
import { sweep } from "./sweep.ts";

/**
 * What every fault test needs: jobs that end and daemons that are mended when the test is over, and then the sweep.
 * To be made inside a `describe`.
 */
export class FaultSuite {
  readonly #cluster: ClusterStatus;
  readonly #jobs: FaultJob[] = [];
  readonly #stopped = new Set<string>();
  readonly #unplugged = new Set<ClusterNode>();
  #isHarmed = false;

  constructor(cluster: ClusterStatus) {
    this.#cluster = cluster;
    afterEach(async () => {
      await this.continue(...this.#stopped);
      for (const node of [...this.#unplugged]) await this.plug(node);
      if (this.#isHarmed) await this.mend();
      for (const job of this.#jobs.splice(0)) await job.dispose();
      await sweep(cluster, { waitMs: 60_000 });
    }, 180_000);
  }

  /** Resolves when the cluster has taken the job. */
  async submit(options: FaultJobOptions = {}): Promise<FaultJob> {
    const job = await FaultJob.submit(this.#cluster, options);
    this.#jobs.push(job);
    return job;
  }

  /** SIGKILL; resolves when they have ended. What their containers run lives on. */
  async kill(...daemons: readonly string[]): Promise<void> {
    this.#isHarmed = true;
    await Promise.all(daemons.map((daemon) => controlDaemon(this.#cluster, "kill", daemon)));
  }

  /** A machine that dies: its NodeManager and all that its containers run. */
  async loseNode({ name, folder }: ClusterNode): Promise<void> {
    await this.kill(name);
    killAll(() => processesWhere((variable) => variable.startsWith(`LOCAL_DIRS=${folder}/`)));
  }

  /** SIGSTOP */
  async stop(...daemons: readonly string[]): Promise<void> {
    for (const daemon of daemons) this.#stopped.add(daemon);
    await Promise.all(daemons.map((daemon) => controlDaemon(this.#cluster, "stop", daemon)));
  }

  /** SIGCONT */
  async continue(...daemons: readonly string[]): Promise<void> {
    await Promise.all(daemons.map((daemon) => controlDaemon(this.#cluster, "cont", daemon)));
    for (const daemon of daemons) this.#stopped.delete(daemon);
  }

  /** Cuts the isolated node off from all others, its containers too. */
  async unplug(node: ClusterNode): Promise<void> {
    this.#unplugged.add(node);
    await controlDaemon(this.#cluster, "unplug", node.name);
  }

  /** Joins it again. */
  async plug(node: ClusterNode): Promise<void> {
    await controlDaemon(this.#cluster, "plug", node.name);
    this.#unplugged.delete(node);
  }

  /** Starts what was killed, with what it had; resolves when HDFS takes writes and YARN has all its nodes. */
  async mend(): Promise<void> {
    await clusterTool(["up", "--name", this.#cluster.name]);
    this.#isHarmed = false;
  }
}
