import { execFile } from "node:child_process";
import { appendFileSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach } from "@jest/globals";
import { type ClusterNode, type ClusterStatus, clusterStatus, clusterTool, controlDaemon } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import { FaultJob, type FaultJobOptions } from "./fault-job.ts";
import { at, listAt, requestJson } from "./http-json.ts";
import { killAll, processesWhere } from "./processes.ts";
import { sweep } from "./sweep.ts";

/**
 * What every test of a fault needs: when the test is over, its jobs are ended, the daemons mended and the cluster swept. To
 * be made inside a `describe`.
 */
export class FaultSuite {
  readonly #cluster: ClusterStatus;
  readonly #jobs: FaultJob[] = [];
  readonly #stopped = new Set<string>();
  readonly #unplugged = new Set<ClusterNode>();
  readonly #full = new Set<ClusterNode>();
  readonly #leaving = new Set<ClusterNode>();
  readonly #forbidden = new Set<ClusterNode>();
  #isHarmed = false;

  constructor(cluster: ClusterStatus) {
    this.#cluster = cluster;
    afterEach(async () => {
      await this.continue(...this.#stopped);
      for (const node of [...this.#unplugged]) await this.plug(node);
      for (const node of [...this.#full]) await this.empty(node);
      for (const node of [...this.#leaving]) await this.recommission(node);
      for (const node of [...this.#forbidden]) await this.allowPrograms(node);
      await this.mend();
      for (const job of this.#jobs.splice(0)) await job.dispose();
      // With two masters of each kind, others may be active by now.
      await sweep(await clusterStatus(cluster.name));
    });
  }

  /** Resolves when the cluster has accepted the job. */
  async submit(options: FaultJobOptions = {}): Promise<FaultJob> {
    const job = await FaultJob.submit(this.#cluster, options);
    this.#jobs.push(job);
    return job;
  }

  /** Sends SIGKILL to the daemons; resolves when they have ended. What runs in their containers lives on. */
  async kill(...daemons: readonly string[]): Promise<void> {
    this.#isHarmed = true;
    await Promise.all(daemons.map((daemon) => controlDaemon(this.#cluster, "kill", daemon)));
  }

  /** Ends a daemon's process, now. */
  end(pid: number, signal: "SIGKILL" | "SIGTERM"): void {
    this.#isHarmed = true;
    process.kill(pid, signal);
  }

  /** Makes a machine die: its NodeManager, and everything that its containers run. */
  async loseNode({ name, folder }: ClusterNode): Promise<void> {
    await this.kill(name);
    killAll(() => processesWhere((variable) => variable.startsWith(`LOCAL_DIRS=${folder}/`)));
  }

  /** Sends SIGSTOP. */
  async stop(...daemons: readonly string[]): Promise<void> {
    for (const daemon of daemons) this.#stopped.add(daemon);
    await Promise.all(daemons.map((daemon) => controlDaemon(this.#cluster, "stop", daemon)));
  }

  /** Sends SIGCONT. */
  async continue(...daemons: readonly string[]): Promise<void> {
    await Promise.all(daemons.map((daemon) => controlDaemon(this.#cluster, "cont", daemon)));
    for (const daemon of daemons) this.#stopped.delete(daemon);
  }

  /** Cuts the isolated node, with its containers, off from all others; with a host, off from that one alone. */
  async unplug(node: ClusterNode, { from }: { readonly from?: string } = {}): Promise<void> {
    this.#unplugged.add(node);
    await controlDaemon(this.#cluster, "unplug", node.name, from === undefined ? [] : ["--from", from]);
  }

  /** Connects the node again. */
  async plug(node: ClusterNode): Promise<void> {
    await controlDaemon(this.#cluster, "plug", node.name);
    this.#unplugged.delete(node);
  }

  /** The ResourceManager takes the node out of the cluster when its containers have ended, or after that time. */
  async decommission(node: ClusterNode, { withinS }: { readonly withinS: number }): Promise<void> {
    this.#isHarmed = true;
    this.#leaving.add(node);
    await controlDaemon(this.#cluster, "decommission", node.name, ["--within", String(withinS)]);
  }

  /** The node is used again. If its NodeManager has ended, it is started when the cluster is mended. */
  async recommission(node: ClusterNode): Promise<void> {
    await controlDaemon(this.#cluster, "recommission", node.name);
    if (await this.#isIn("DECOMMISSIONED", node)) await this.#hasEnded(node);
    this.#leaving.delete(node);
  }

  /** Fills the node's small disk except for a mebibyte, with which it can still end what it runs. */
  fill(node: ClusterNode): void {
    this.#full.add(node);
    const mebibyte = Buffer.alloc(1 << 20);
    const { bavail, bsize } = statfsSync(join(node.folder, "local"));
    const room = Math.floor((bavail * bsize) / mebibyte.length);
    for (let written = 0; written < room - 1; written += 1) appendFileSync(ballastOf(node), mebibyte);
  }

  /** Lets no program run from the node's small disk, as on a file system that is mounted noexec. */
  async forbidPrograms(node: ClusterNode): Promise<void> {
    this.#forbidden.add(node);
    await remount(node, "noexec");
  }

  async allowPrograms(node: ClusterNode): Promise<void> {
    await remount(node, "exec");
    this.#forbidden.delete(node);
  }

  /** Makes room on it again; resolves when YARN uses the node. */
  async empty(node: ClusterNode): Promise<void> {
    rmSync(ballastOf(node), { force: true });
    await this.nodeIn("RUNNING", node);
    this.#full.delete(node);
  }

  /** Resolves when the ResourceManager counts the node as being in that state. */
  async nodeIn(state: "RUNNING" | "UNHEALTHY" | "LOST", node: ClusterNode): Promise<void> {
    await eventually(`${node.nodeId} to be ${state}`, () => this.#isIn(state, node));
  }

  async #isIn(state: string, { nodeId }: ClusterNode): Promise<boolean> {
    const url = `${this.#cluster.endpoints.resourceManager}/ws/v1/cluster/nodes?states=${state}`;
    const { body } = await requestJson(url, { cluster: this.#cluster });
    return listAt(body, "nodes", "node").some((node) => at(node, "id") === nodeId);
  }

  /**
   * A NodeManager that was taken out ends by itself after a while; one that is still ending would be taken for a running
   * one.
   */
  async #hasEnded({ name }: ClusterNode): Promise<void> {
    await eventually(`${name} to end`, async () => {
      const { daemons } = await clusterStatus(this.#cluster.name);
      return daemons.some((daemon) => daemon.name === name && daemon.pid === undefined);
    });
  }

  /**
   * Starts again what was killed, with the data that it had; resolves when HDFS takes writes and YARN has all its nodes.
   */
  async mend(): Promise<void> {
    if (!this.#isHarmed) return;
    await clusterTool(["up", "--name", this.#cluster.name]);
    this.#isHarmed = false;
  }
}

const run = promisify(execFile);

const remount = async ({ folder }: ClusterNode, option: "exec" | "noexec"): Promise<void> => {
  await run("mount", ["--options", `remount,${option}`, join(folder, "local")]);
};

const ballastOf = ({ folder }: ClusterNode): string => join(folder, "local", "ballast");
