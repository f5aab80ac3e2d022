import type { NodeLabel, QueueInfo } from "../../src/hadoop/yarn/records.ts";
import type { NodeSnapshot } from "../../src/job/cluster-nodes.ts";
import { listWords, nodeWords } from "../../src/job/reasons/words.ts";
import type { Finding } from "./finding.ts";

interface LabelFacts {
  readonly labels: readonly NodeLabel[];
  readonly queue: QueueInfo | undefined;
  /** Nodes that do not run, of labels that no node has that does. */
  readonly away: readonly NodeSnapshot[];
}

/** The cluster's labels, and which of them the queue reaches. */
export function labelsFinding(queueName: string, { labels, queue, away }: LabelFacts): Finding {
  const subject = "labels";
  if (labels.length === 0) return { subject, state: "well", found: "the cluster has no node labels" };
  const described = labels.map(({ name, exclusive }) => `${name}${exclusive ? "" : " (shared)"}`).join(", ");
  const reach = queue?.accessibleNodeLabels.filter((label) => label !== "").join(", ") ?? "";
  const found = `${described}; queue ${queueName} reaches ${reach === "" ? "none" : reach}`;
  const idle = labels.flatMap(({ name }) => {
    const nodes = away.filter((node) => node.labels.includes(name)).map(nodeWords);
    return nodes.length === 0 ? [] : [`no node with label ${name} runs: ${listWords(nodes)}`];
  });
  if (idle.length === 0) return { subject, state: "well", found };
  const remedy = "jobs that ask for it wait until such a node runs again: ask whoever operates the cluster";
  return { subject, state: "remark", found: [found, ...idle].join("; "), remedy };
}
