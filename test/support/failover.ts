import { type ClusterStatus, clusterStatus } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import type { FaultSuite } from "./fault-suite.ts";
import { isRunning } from "./processes.ts";

export type MasterKind = "ResourceManager" | "NameNode";

/** `killed`: SIGKILL, so that ZooKeeper has to miss it. `relieved`: it, or its ZKFC, gives its part up. */
export type Manner = "killed" | "relieved";

/** Who is active, and what ends that. */
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
    return await this.#of([kind], manner);
  }

  /** The same of a ResourceManager and a NameNode at the same moment. */
  async ofBoth(manner: Manner): Promise<() => void> {
    return await this.#of(["ResourceManager", "NameNode"], manner);
  }

  async #of(kinds: readonly MasterKind[], manner: Manner): Promise<() => void> {
    await this.#mending;
    const reigns = await Promise.all(kinds.map((kind) => this.#reign(kind, manner)));
    return () => {
      for (const { pid, signal } of reigns) this.#suite.end(pid, signal);
      this.#mending = this.#mend(reigns);
      // Whoever asks for the next one hears of a failure; the suite mends again at the test's end.
      this.#mending.catch(() => undefined);
    };
  }

  async #reign(kind: MasterKind, manner: Manner): Promise<Reign> {
    const active = await this.active(kind);
    // The controller of the other NameNode tells the one whose own is gone to stand by.
    const ended = kind === "NameNode" && manner === "relieved" ? active.replace("nn", "zkfc") : active;
    const { daemons } = await clusterStatus(this.#name);
    const pid = daemons.find(({ name }) => name === ended)?.pid;
    if (pid === undefined) throw new Error(`${ended} does not run`);
    const signal = kind === "ResourceManager" && manner === "relieved" ? "SIGTERM" : "SIGKILL";
    return { kind, active, pid, signal };
  }

  /** The name of the one that is active, as soon as one is. */
  async active(kind: MasterKind, { otherThan }: { readonly otherThan?: string } = {}): Promise<string> {
    return await eventually(`an active ${kind}`, async () => {
      const { daemons } = await clusterStatus(this.#name);
      const isActive = ({ name, title, haState }: (typeof daemons)[number]) =>
        title.startsWith(kind) && haState === "active" && name !== otherThan;
      return daemons.find(isActive)?.name;
    });
  }

  /** Not before the others serve: a ZKFC that comes back at once would leave everything as it was. */
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
