import type { NodeReport, NodeState, Resource } from "../../../src/hadoop/yarn/records.ts";
import { subtract } from "../../../src/job/amounts.ts";
import type { NodeSnapshot, QueueShares } from "../../../src/job/cluster-nodes.ts";
import type { JobFile } from "../../../src/job/stored/job-file.ts";
import type { NodeView } from "../../core/state/events.ts";

const nothing = { memoryMiB: 0, vcores: 0, others: {} };

interface ClusterOfJob extends Pick<JobFile, "sharedLabels" | "queueShares"> {
  readonly nodes: readonly NodeSnapshot[];
}

/** The cluster's nodes: those of the submission, and what the ResourceManager has reported since. */
export class NodeTable {
  readonly #nodes: Map<string, NodeView>;
  readonly #sharedLabels: ReadonlySet<string>;
  #queueShares: QueueShares | undefined;
  readonly #own: { readonly host: string; readonly resource: Resource };

  /**
   * @param cluster its nodes at the submission, and the job's `sharedLabels` and `queueShares`
   * @param own what the ApplicationMaster's container has taken from its node since
   */
  constructor(
    { nodes, sharedLabels, queueShares }: ClusterOfJob,
    own: { readonly host: string; readonly resource: Resource },
  ) {
    this.#sharedLabels = new Set(sharedLabels);
    this.#own = own;
    this.#queueShares = queueShares;
    this.#nodes = new Map(
      nodes.map((node) => {
        const since = node.host === own.host ? own.resource : nothing;
        const free = node.free === undefined ? {} : { free: subtract(node.free, since) };
        return [node.nodeId, { ...node, ...this.#ofJob(node), ...free, ...availability(node) }];
      }),
    );
  }

  /** YARN has registered the attempt in this queue, or names none: rules of the cluster may have moved the job to another one. */
  registeredIn(queue: string): void {
    if (lastWord(queue) !== lastWord(this.#queueShares?.queue ?? "")) this.#queueShares = undefined;
  }

  /** @returns the nodes as these reports describe them */
  update(reports: readonly NodeReport[]): NodeView[] {
    const views = reports.map((report) => ({ ...viewOf(report), ...this.#ofJob(report) }));
    for (const view of views) this.#nodes.set(view.nodeId, view);
    return views.map((view) => this.#inQueue(view));
  }

  /** What a node is to this job. */
  #ofJob({ host, labels }: Pick<NodeView, "host" | "labels">): Pick<NodeView, "nonExclusive" | "master"> {
    const isShared = labels.some((label) => this.#sharedLabels.has(label));
    const { host: ownHost, resource: master } = this.#own;
    return { ...(isShared ? { nonExclusive: true } : {}), ...(host === ownHost ? { master } : {}) };
  }

  #inQueue(view: NodeView): NodeView {
    const queueShare = this.#queueShares?.ofLabels[view.labels[0] ?? ""];
    return queueShare === undefined ? view : { ...view, queueShare };
  }

  get all(): NodeView[] {
    return [...this.#nodes.values()].map((view) => this.#inQueue(view));
  }
}

/** Some releases name a queue by its path, others by its last part. */
function lastWord(queue: string): string {
  return queue.slice(queue.lastIndexOf(".") + 1);
}

function viewOf(report: NodeReport): NodeView {
  const { nodeId, host, rack, labels, capability, used, state, healthReport } = report;
  return {
    nodeId,
    host,
    rack,
    labels,
    ...availability(report),
    ...(state === "UNHEALTHY" && healthReport !== "" ? { healthReport: healthReport.replace(/[\s;]+$/, "") } : {}),
    free: subtract(capability, used),
    total: capability,
  };
}

interface Availability extends Pick<NodeReport, "decommissioningTimeoutS"> {
  readonly state?: NodeState;
}

function availability(node: Availability): Pick<NodeView, "usable" | "state" | "decommissioning"> {
  const { state = "RUNNING" } = node;
  return state === "RUNNING" ? { usable: true } : { usable: false, state, ...decommissioningOf(node) };
}

/** A node that was taken out without notice may have run containers until now. */
function decommissioningOf({ state, decommissioningTimeoutS }: Availability): Pick<NodeView, "decommissioning"> {
  if (state === "DECOMMISSIONED") return { decommissioning: { timeoutMs: 0 } };
  if (state !== "DECOMMISSIONING") return {};
  return {
    decommissioning: decommissioningTimeoutS === undefined ? {} : { timeoutMs: decommissioningTimeoutS * 1000 },
  };
}
