import type { NodeView } from "../../am/core/state/events.ts";
import type { Application } from "./application.ts";
import type { VirtualClock } from "./clock.ts";
import { type ModelNode, reports } from "./node.ts";
import type { Random } from "./random.ts";

export const NODE_HEARTBEAT_MS = 1_000;

export interface ClusterOptions {
  readonly nodes: number;
  /** The memory of each node. */
  readonly capacityMiB: number;
  /** Every second node has this label, where it is not empty. */
  readonly label?: string;
  /** By how much a machine's clock may be wrong, either way. */
  readonly skewMs?: number;
}

/** What several applications share: the nodes, and the ResourceManager's scheduler. */
export class Cluster {
  readonly nodes: ModelNode[];
  readonly #clock: VirtualClock;
  readonly #applications: Application[] = [];
  #outages = 0;
  /** How many heartbeats gave containers: each of them begins with another application. */
  #turn = 0;

  constructor(clock: VirtualClock, random: Random, { nodes, capacityMiB, label = "", skewMs = 0 }: ClusterOptions) {
    this.#clock = clock;
    this.nodes = Array.from({ length: nodes }, (_, index) => ({
      nodeId: `node${index}:45454`,
      host: `node${index}`,
      rack: `/rack${index % 2}`,
      label: index % 2 === 0 ? "" : label,
      capacityMiB,
      usedMiB: 0,
      alive: true,
      hasCrashed: false,
      leaving: undefined,
      cut: undefined,
      skewMs: 0,
      slowMs: 0,
      slowUntilMs: 0,
      isUnmanaged: false,
      managedAgainAtMs: 0,
      phaseMs: random.integer(0, NODE_HEARTBEAT_MS - 1),
      tickScheduled: false,
    }));
    for (const node of skewMs === 0 ? [] : this.nodes) {
      node.skewMs = random.integer(-skewMs, skewMs);
    }
  }

  /** Whether the ResourceManager answers. */
  get isUp(): boolean {
    return this.#outages === 0;
  }

  add(application: Application): void {
    this.#applications.push(application);
  }

  /**
   * The nodes as an ApplicationMaster sees them when it registers: it knows nothing of what has changed since its
   * submission.
   */
  views(): NodeView[] {
    return this.nodes.map((node) => this.viewOf({ ...node, leaving: undefined }));
  }

  viewOf({ nodeId, host, rack, alive, leaving, label, capacityMiB, usedMiB }: ModelNode): NodeView {
    return {
      nodeId,
      host,
      rack,
      usable: alive && leaving === undefined,
      ...(leaving === undefined ? {} : { decommissioning: leaving }),
      labels: label === "" ? [] : [label],
      free: { memoryMiB: capacityMiB - usedMiB, vcores: 64, others: {} },
      total: { memoryMiB: capacityMiB, vcores: 64, others: {} },
    };
  }

  goDown(): void {
    this.#outages++;
  }

  /**
   * The ResourceManager is back with what its store holds: applications and their attempts, but not what those had asked
   * for.
   */
  comeBack(): void {
    this.#outages--;
    for (const application of this.#applications) {
      application.restarted();
    }
  }

  loseNode(node: ModelNode): void {
    node.alive = false;
    for (const application of this.#applications) {
      application.loseNode(node);
    }
  }

  /** Makes nodes that have something to give report at their next heartbeats. */
  wakeNodes(): void {
    if (!this.#applications.some(({ isAsking }) => isAsking)) {
      return;
    }
    for (const node of this.nodes) {
      if (reports(node) && !node.tickScheduled) {
        node.tickScheduled = true;
        const intoMs = (this.#clock.nowMs - node.phaseMs) % NODE_HEARTBEAT_MS;
        this.#clock.after(NODE_HEARTBEAT_MS - intoMs, () => this.#heartbeat(node));
      }
    }
  }

  /** Applications take turns; all of them together get one container where no host was named. */
  #heartbeat(node: ModelNode): void {
    node.tickScheduled = false;
    if (!reports(node) || !this.isUp || node.leaving !== undefined) {
      return;
    }
    const first = this.#turn++ % this.#applications.length;
    let offSwitch = 1;
    for (const application of [...this.#applications.slice(first), ...this.#applications.slice(0, first)]) {
      offSwitch = application.assign(node, offSwitch);
    }
    this.wakeNodes();
  }
}
