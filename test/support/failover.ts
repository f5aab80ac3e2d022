import { type ClusterStatus, clusterStatus } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import type { FaultSuite } from "./fault-suite.ts";
import { isRunning } from "./processes.ts";

export type MasterKind = "ResourceManager" | "NameNode";

/**
 * `killed`: by SIGKILL, so that ZooKeeper has to notice its absence. `relieved`: it, or its ZKFC, hands over its role.
 */
export type Manner = "killed" | "relieved";

/** Which master is active, and how to end its time. */
interface Reign {
  readonly kind: MasterKind;
  readonly active: string;
  readonly pid: number;
  readonly signal: "SIGKILL" | "SIGTERM";
}

/** Makes the masters of a cluster with two of each kind change places. */
export class Failover {
  readonly #suite: FaultSuite;
  readonly #name: string;
  /** Settles when whatever the last change ended is running again. */
  #mending: Promise<void> = Promise.resolve();

  constructor(cluster: ClusterStatus, suite: FaultSuite) {
    this.#suite = suite;
    this.#name = cluster.name;
  }

  /**
   * Finds out which master is active, once there are two.
   * @returns a function that ends that master's time at once, so that it can be called at a certain moment
   */
  async of(kind: MasterKind, manner: Manner): Promise<() => void> {
    return await this.#of([kind], manner);
  }

  /** The same for a ResourceManager and a NameNode at the same moment. */
  async ofBoth(manner: Manner): Promise<() => void> {
    return await this.#of(["ResourceManager", "NameNode"], manner);
  }

  async #of(kinds: readonly MasterKind[], manner: Manner): Promise<() => void> {
    await this.#mending;
    const reigns = await Promise.all(kinds.map((kind) => this.#reign(kind, manner)));
    return () => {
      for (const { pid, signal } of reigns) this.#suite.end(pid, signal);
      this.#mending = this.#mend(reigns);
      // Whoever asks for the next change hears of a failure; the suite mends again at the test's end.
      this.#mending.catch(() => undefined);
    };
  }

  async #reign(kind: MasterKind, manner: Manner): Promise<Reign> {
    const active = await this.active(kind);
    // When the active NameNode's own controller is gone, the other NameNode's controller makes it stand by.
    const ended = kind === "NameNode" && manner === "relieved" ? active.replace("nn", "zkfc") : active;
    const { daemons } = await clusterStatus(this.#name);
    const pid = daemons.find(({ name }) => name === ended)?.pid;
    if (pid === undefined) throw new Error(`${ended} does not run`);
    const signal = kind === "ResourceManager" && manner === "relieved" ? "SIGTERM" : "SIGKILL";
    return { kind, active, pid, signal };
  }

  /** The name of the active master, as soon as there is one. */
  async active(kind: MasterKind, { otherThan }: { readonly otherThan?: string } = {}): Promise<string> {
    return await eventually(`an active ${kind}`, async () => {
      const { daemons } = await clusterStatus(this.#name);
      const isActive = ({ name, title, haState }: (typeof daemons)[number]) =>
        title.startsWith(kind) && haState === "active" && name !== otherThan;
      return daemons.find(isActive)?.name;
    });
  }

  /** Starts nothing before the others serve: a ZKFC that came back at once would leave everything as it was. */
  async #mend(reigns: readonly Reign[]): Promise<void> {
    await Promise.all(
      reigns.map(async ({ pid, kind, active }) => {
        await eventually("its end", () => !isRunning(pid));
        await this.active(kind, { otherThan: active });
      }),
    );
    await this.#suite.mend();
  }
}
