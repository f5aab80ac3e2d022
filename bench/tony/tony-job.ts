import { type ChildProcess, execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { ClusterStatus } from "../../test/support/cluster.ts";
import { withResourceManager } from "../application.ts";
import { startJava } from "../java-program.ts";
import { until } from "../until.ts";

const run = promisify(execFile);

/**
 * Gives this machine what TonY needs: its ApplicationMaster looks up its node's address among those of the network interfaces, and a
 * whole block of loopback addresses counts as one address there. Only root can do this.
 */
export async function giveNodesAddresses({ addresses }: ClusterStatus): Promise<void> {
  for (const node of addresses.nodes) {
    await run("ip", ["addr", "add", `${node}/32`, "dev", "lo"]).catch((error: unknown) => {
      if (!String(error).includes("File exists")) throw error;
    });
  }
}

export async function takeNodesAddresses({ addresses }: ClusterStatus): Promise<void> {
  for (const node of addresses.nodes)
    await run("ip", ["addr", "del", `${node}/32`, "dev", "lo"]).catch(() => undefined);
}

export interface TonyJobOptions {
  readonly jars: string;
  readonly tasks: number;
  /** How long each task runs. */
  readonly seconds: number;
}

/** A job submitted by TonY's own client. */
export class TonyJob {
  readonly #cluster: ClusterStatus;
  readonly #folder = mkdtempSync(path.join(tmpdir(), "tony-bench-"));
  readonly #client: ChildProcess;
  readonly #ended: Promise<void>;
  #output = "";

  constructor(cluster: ClusterStatus, options: TonyJobOptions) {
    this.#cluster = cluster;
    const file = path.join(this.#folder, "tony.xml");
    writeFileSync(file, tonyXml(cluster, options));
    const words = ["com.linkedin.tony.TonyClient", "-conf_file", file];
    this.#client = startJava(cluster, words, { jars: options.jars, folder: this.#folder });
    for (const stream of [this.#client.stdout, this.#client.stderr]) {
      stream?.on("data", (bytes: Buffer) => {
        this.#output += bytes.toString();
      });
    }
    this.#ended = new Promise((resolve) => this.#client.on("exit", () => resolve()));
  }

  async id(): Promise<string> {
    const told = /Submitted application (application_\d+_\d+)/;
    return await this.#until("its application's id", () => told.exec(this.#output)?.[1]);
  }

  /** Resolves when the client has reported every task as running. */
  async started(tasks: number): Promise<void> {
    await this.#until("every task to run", () => (this.#running().size === tasks ? true : undefined));
  }

  async finished(): Promise<void> {
    await this.#ended;
    if (this.#client.exitCode !== 0) throw new Error(`TonY's job did not succeed:\n${this.#output.slice(-4_000)}`);
  }

  /** The job does not end with its client. */
  async dispose(): Promise<void> {
    const id = /application_\d+_\d+/.exec(this.#output)?.[0];
    if (id !== undefined) await withResourceManager(this.#cluster, (client) => client.kill(id));
    if (this.#client.exitCode === null) this.#client.kill("SIGKILL");
    await this.#ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** At first each task has a line, `RUNNING, worker, 0, http://…`; later they share one, `RUNNING: worker [0, 2]`. */
  #running(): Set<string> {
    const alone = [...this.#output.matchAll(/RUNNING, worker, (\d+)/g)].map(([, index = ""]) => index);
    const lists = [...this.#output.matchAll(/RUNNING: worker \[([\d, ]+)\]/g)].map(([, list = ""]) => list.split(", "));
    return new Set([...alone, ...lists.flat()]);
  }

  async #until<Value>(what: string, look: () => Value | undefined): Promise<Value> {
    const hopeless = () => (this.#client.exitCode === null ? undefined : `TonY said:\n${this.#output.slice(-4_000)}`);
    return await until(what, look, { everyMs: 100, hopeless });
  }
}

/** TonY's defaults, except for what a small node and Java 17 need. */
function tonyXml({ confDir }: ClusterStatus, { jars, tasks, seconds }: TonyJobOptions): string {
  const properties = Object.entries({
    "tony.application.security.enabled": "false",
    "tony.application.hadoop.classpath": `${confDir},${path.join(jars, "*")}`,
    "tony.application.name": "bench",
    "tony.worker.instances": String(tasks),
    "tony.worker.memory": "2g",
    "tony.am.memory": "2g",
    "tony.am.vcores": "1",
    "tony.task.executor.jvm.opts": "-Xmx128m",
    "tony.task.default.jvm.opts":
      "--add-opens=java.base/java.lang=ALL-UNNAMED -XX:CompressedClassSpaceSize=64m -XX:+UseSerialGC",
    "tony.containers.command": `sleep ${seconds}`,
  }).map(([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`);
  return `<configuration>${properties.join("\n")}</configuration>\n`;
}
