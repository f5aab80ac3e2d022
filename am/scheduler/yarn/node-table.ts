import type { NodeReport, Resource } from "../../../src/hadoop/yarn/records.ts";
import type { NodeSnapshot } from "../../../src/job/job-file.ts";
import type { NodeView } from "../../core/events.ts";
import { subtract } from "../resource-amounts.ts";

/** The cluster's nodes: those of the submission, and what the ResourceManager has told since. */
export class NodeTable {
  readonly #nodes: Map<string, NodeView>;

  /** @param own what the ApplicationMaster's container takes from its node since the snapshot was made */
  constructor(snapshot: readonly NodeSnapshot[], own: { readonly host: string; readonly resource: Resource }) {
    this.#nodes = new Map(
      snapshot.map((node) => {
        const free = node.host === own.host ? subtract(node.free, own.resource) : node.free;
        return [node.nodeId, { ...node, free, usable: true }];
      }),
    );
  }

  update(reports: readonly NodeReport[]): void {
    for (const report of reports) this.#nodes.set(report.nodeId, viewOf(report));
  }

  get all(): NodeView[] {
    return [...this.#nodes.values()];
  }
}

function viewOf(report: NodeReport): NodeView {
  const { nodeId, host, rack, labels, capability, used, state } = report;
  return {
    nodeId,
    host,
    rack,
    labels,
    usable: state === "RUNNING",
    free: subtract(capability, used),
    total: capability,
  };
}
