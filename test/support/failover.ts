import { type ClusterStatus, clusterStatus } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import type { FaultSuite } from "./fault-suite.ts";
import { isRunning } from "./processes.ts";

export type MasterKind = "ResourceManager" | "NameNode";

/** `killed`: SIGKILL, so that ZooKeeper has to miss it. `relieved`: it, or its ZKFC, gives its part up. */
export type Manner = "killed" | "relieved";

/** Makes the masters of a cluster with two of each kind change places. */
export class Failover {
  readonly #suite: FaultSuite;
  readonly #name: string;
  /** Brings back what the last one ended. */
  #mending: Promise<void> = Promise.resolve();

  constructor(cluster: ClusterStatus, suite: FaultSuite) {
    this.#suite = suite;
    this.#name = cluster.name;
  }

  /**
   * Finds out who is active, once there are two.
   * @returns what ends that one's time: at once, so that it can be done at a certain moment
   */
  async of(kind: MasterKind, manner: Manner): Promise<() => void> {
    await this.#mending;
    return await eventually(`an active ${kind}`, async () => {
      const { daemons } = await clusterStatus(this.#name);
      const active = daemons.find(({ title, haState }) => title.startsWith(kind) && haState === "active");
      if (active === undefined) return undefined;
      // The controller of the other NameNode tells the one whose own is gone to stand by.
      const ended = kind === "NameNode" && manner === "relieved" ? active.name.replace("nn", "zkfc") : active.name;
      const pid = daemons.find(({ name }) => name === ended)?.pid;
      const signal = kind === "ResourceManager" && manner === "relieved" ? "SIGTERM" : "SIGKILL";
      return pid === undefined ? undefined : () => this.#end(pid, signal);
    });
  }

  #end(pid: number, signal: "SIGKILL" | "SIGTERM"): void {
    this.#suite.end(pid, signal);
    this.#mending = eventually("its end", () => !isRunning(pid)).then(() => this.#suite.mend());
    // Whoever asks for the next one hears of a failure; the suite mends again at the test's end.
    this.#mending.catch(() => undefined);
  }
}
