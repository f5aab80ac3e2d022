import type { ApplicationReport, NodeReport } from "../../src/hadoop/yarn/records.ts";
import type { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { queueName } from "./job-filter.ts";
import { type ClusterUse, isVague, withShortages } from "./shortage.ts";
import { askedStates, isOfNodes, withNodes } from "./waiting-nodes.ts";
import { waitingReason } from "./waiting-reason.ts";

/** Most AMs have their container sooner. */
const askAfterMs = 1_500;
/** A large cluster's nodes are a long list. */
const askAgainAfterMs = 30_000;

type Asked = Pick<ResourceManagerClient, "nodes" | "nodeLabels" | "reports">;

/** Why AMs of a cluster do not run yet, and their containers do not come: from their reports and, of those that wait for long, from the nodes. */
export class WaitingReasons {
  readonly #resourceManager: Asked;
  readonly #now: () => number;
  #nodes: { readonly askedAtMs: number; readonly answer: Promise<readonly NodeReport[] | undefined> } | undefined;

  #use: { readonly askedAtMs: number; readonly answer: Promise<ClusterUse | undefined> } | undefined;
  #lastUse: ClusterUse | undefined;

  constructor(resourceManager: Asked, now: () => number) {
    this.#resourceManager = resourceManager;
    this.#now = now;
  }

  async reason(report: ApplicationReport): Promise<DelayReason> {
    const reason = waitingReason(report);
    if (!isOfNodes(reason) || this.#now() - report.startTimeMs < askAfterMs) return reason;
    const nodes = await this.#answer();
    return nodes === undefined ? reason : withNodes(reason, { ...report, queue: queueName(report.queue) }, nodes);
  }

  /** The status, with who has what its containers wait for. */
  async explained(status: JobStatus): Promise<JobStatus> {
    if (!this.#isWorthAsking(status)) return status;
    const use = await this.#clusterUse();
    return use === undefined ? status : withShortages(status, use);
  }

  /** The same by what was heard last: nothing is waited for. */
  explainedSoon(status: JobStatus): JobStatus {
    if (!this.#isWorthAsking(status)) return status;
    void this.#clusterUse();
    return this.#lastUse === undefined ? status : withShortages(status, this.#lastUse);
  }

  #isWorthAsking({ waits, nowMs }: JobStatus): boolean {
    return waits.some((wait) => isVague(wait) && nowMs - wait.sinceMs >= askAfterMs);
  }

  #clusterUse(): Promise<ClusterUse | undefined> {
    const askedAtMs = this.#now();
    if (this.#use === undefined || askedAtMs - this.#use.askedAtMs >= askAgainAfterMs) {
      this.#use = { askedAtMs, answer: this.#askUse() };
    }
    return this.#use.answer;
  }

  /** Undefined where the ResourceManager does not say. */
  async #askUse(): Promise<ClusterUse | undefined> {
    try {
      const [nodes, labels, applications] = await Promise.all([
        this.#resourceManager.nodes(["RUNNING"]),
        this.#resourceManager.nodeLabels(),
        this.#resourceManager.reports({ states: ["ACCEPTED", "RUNNING"] }),
      ]);
      const sharedLabels = labels.flatMap(({ name, exclusive }) => (exclusive ? [] : [name]));
      this.#lastUse = { nodes, sharedLabels, applications };
    } catch {
      this.#lastUse = undefined;
    }
    return this.#lastUse;
  }

  /** Undefined where the ResourceManager does not say. */
  #answer(): Promise<readonly NodeReport[] | undefined> {
    const askedAtMs = this.#now();
    if (this.#nodes === undefined || askedAtMs - this.#nodes.askedAtMs >= askAgainAfterMs) {
      const answer = this.#resourceManager.nodes(askedStates).catch(() => undefined);
      this.#nodes = { askedAtMs, answer };
    }
    return this.#nodes.answer;
  }
}
