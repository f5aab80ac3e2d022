import type { ApplicationReport, NodeReport } from "../../src/hadoop/yarn/records.ts";
import type { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import { queueName } from "./job-filter.ts";
import { askedStates, isOfNodes, withNodes } from "./waiting-nodes.ts";
import { waitingReason } from "./waiting-reason.ts";

/** Most AMs have their container sooner. */
const askAfterMs = 1_500;
/** A large cluster's nodes are a long list. */
const askAgainAfterMs = 30_000;

/** Why AMs of a cluster do not run yet: from their reports and, of those that wait for long, from the nodes. */
export class WaitingReasons {
  readonly #resourceManager: Pick<ResourceManagerClient, "nodes">;
  readonly #now: () => number;
  #nodes: { readonly askedAtMs: number; readonly answer: Promise<readonly NodeReport[] | undefined> } | undefined;

  constructor(resourceManager: Pick<ResourceManagerClient, "nodes">, now: () => number) {
    this.#resourceManager = resourceManager;
    this.#now = now;
  }

  async reason(report: ApplicationReport): Promise<DelayReason> {
    const reason = waitingReason(report);
    if (!isOfNodes(reason) || this.#now() - report.startTimeMs < askAfterMs) return reason;
    const nodes = await this.#answer();
    return nodes === undefined ? reason : withNodes(reason, { ...report, queue: queueName(report.queue) }, nodes);
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
