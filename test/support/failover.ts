import { type ClusterStatus, clusterStatus } from "./cluster.ts";
import { eventually } from "./eventually.ts";
import type { FaultSuite } from "./fault-suite.ts";

export type MasterKind = "ResourceManager" | "NameNode";

/** `killed`: SIGKILL. `handed-over`: it gives its part up by itself, so that the other has it at once. */
export type Manner = "killed" | "handed-over";

/** Makes the masters of a cluster with two of each kind change places. */
export class Failover {
  readonly #suite: FaultSuite;
  readonly #name: string;

  constructor(cluster: ClusterStatus, suite: FaultSuite) {
    this.#suite = suite;
    this.#name = cluster.name;
  }

  /** The number of the one that is active, 1 or 2. */
  async active(kind: MasterKind): Promise<number> {
    return await eventually(`an active ${kind}`, async () => {
      const { daemons } = await clusterStatus(this.#name);
      const active = daemons.find(({ title, haState }) => title.startsWith(kind) && haState === "active");
      return active === undefined ? undefined : Number(active.title.at(-1));
    });
  }

  /** Ends the active one's time; resolves when it is over, and the other has still to begin. */
  async of(kind: MasterKind, manner: Manner): Promise<void> {
    const number = await this.active(kind);
    if (kind === "ResourceManager") {
      const resourceManager = `rm${number}`;
      if (manner === "killed") await this.#suite.kill(resourceManager);
      else await this.#suite.terminate(resourceManager);
    } else if (manner === "killed") {
      await this.#suite.kill(`nn${number}`);
    } else {
      // The other's ZKFC tells this NameNode to stand by.
      await this.#suite.kill(`zkfc${number}`);
    }
  }
}
