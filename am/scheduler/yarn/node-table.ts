import type { NodeReport, Resource } from "../../../src/hadoop/yarn/records.ts";
import type { NodeSnapshot } from "../../../src/job/cluster-nodes.ts";
import type { NodeView } from "../../core/state/events.ts";
import { subtract } from "../resource-amounts.ts";

const nothing = { memoryMiB: 0, vcores: 0, others: {} };

/** The cluster's nodes: those of the submission, and what the ResourceManager has reported since. */
export class NodeTable {
  readonly #nodes: Map<string, NodeView>;
  readonly #sharedLabels: ReadonlySet<string>;

  /**
   * @param cluster its nodes at the submission, and the job's `sharedLabels`
   * @param own what the ApplicationMaster's container takes from its node since then
   */
  constructor(
    { nodes, sharedLabels }: { readonly nodes: readonly NodeSnapshot[]; readonly sharedLabels: readonly string[] },
    own: { readonly host: string; readonly resource: Resource },
  ) {
    this.#sharedLabels = new Set(sharedLabels);
    this.#nodes = new Map(
      nodes.map((node) => {
        const since = node.host === own.host ? own.resource : nothing;
        const free = node.free === undefined ? {} : { free: subtract(node.free, since) };
        return [node.nodeId, { ...node, ...this.#sharing(node.labels), ...free, usable: true }];
      }),
    );
  }

  /** @returns the nodes as these reports describe them */
  update(reports: readonly NodeReport[]): NodeView[] {
    const views = reports.map((report) => ({ ...viewOf(report), ...this.#sharing(report.labels) }));
    for (const view of views) this.#nodes.set(view.nodeId, view);
    return views;
  }

  #sharing(labels: readonly string[]): Pick<NodeView, "nonExclusive"> {
    return labels.some((label) => this.#sharedLabels.has(label)) ? { nonExclusive: true } : {};
  }

  get all(): NodeView[] {
    return [...this.#nodes.values()];
  }
}

function viewOf(report: NodeReport): NodeView {
  const { nodeId, host, rack, labels, capability, used, state, healthReport } = report;
  return {
    nodeId,
    host,
    rack,
    labels,
    usable: state === "RUNNING",
    ...decommissioningOf(report),
    ...(state === "UNHEALTHY" && healthReport !== "" ? { healthReport: healthReport.replace(/[\s;]+$/, "") } : {}),
    free: subtract(capability, used),
    total: capability,
  };
}

/** One that was taken out without notice may have run containers until now. */
function decommissioningOf({ state, decommissioningTimeoutS }: NodeReport): Pick<NodeView, "decommissioning"> {
  if (state === "DECOMMISSIONED") return { decommissioning: { timeoutMs: 0 } };
  if (state !== "DECOMMISSIONING") return {};
  return {
    decommissioning: decommissioningTimeoutS === undefined ? {} : { timeoutMs: decommissioningTimeoutS * 1000 },
  };
}
