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
/** An AM that reaches the ResourceManager has registered sooner. */
const registersWithinMs = 20_000;
/** A large cluster's nodes are a long list. */
const askAgainAfterMs = 30_000;

type Asked = Pick<ResourceManagerClient, "nodes" | "nodeLabels" | "reports">;

/** Why AMs of a cluster do not run yet, and their containers do not come: from their reports and, of those that wait for long, from the nodes. */
export class WaitingReasons {
  readonly #resourceManager: Asked;
  readonly #now: () => number;
  readonly #schedulerWords: () => string;
  /** When each AM was first seen to have its container, by its application. */
  readonly #startingSinceMs = new Map<string, number>();
  #room: { readonly askedAtMs: number; readonly answer: Promise<Room | undefined> } | undefined;

  #use: { readonly askedAtMs: number; readonly answer: Promise<ClusterUse | undefined> } | undefined;
  #lastUse: ClusterUse | undefined;

  /** @param schedulerWords where AMs look for the ResourceManager, and by which key */
  constructor(resourceManager: Asked, now: () => number, schedulerWords: () => string) {
    this.#resourceManager = resourceManager;
    this.#now = now;
    this.#schedulerWords = schedulerWords;
  }

  async reason(report: ApplicationReport): Promise<DelayReason> {
    const reason = waitingReason(report);
    if (reason.code === "am-starting") return this.#withAddress(reason, report);
    if (!isOfNodes(reason) || this.#now() - report.startTimeMs < askAfterMs) return reason;
    const room = await this.#answer();
    if (room === undefined) return reason;
    const known = withNodes(reason, { ...report, queue: queueName(report.queue) }, room.nodes);
    return known.code === "am-not-placed" ? withEarlier(known, report, room.applications) : known;
  }

  /** An AM that is slow to register may look for the ResourceManager in vain. */
  #withAddress(reason: DelayReason, { id }: ApplicationReport): DelayReason {
    const nowMs = this.#now();
    const sinceMs = this.#startingSinceMs.get(id) ?? nowMs;
    this.#startingSinceMs.set(id, sinceMs);
    return nowMs - sinceMs < registersWithinMs
      ? reason
      : { code: "am-not-registered", looksAt: this.#schedulerWords() };
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
  #answer(): Promise<Room | undefined> {
    const askedAtMs = this.#now();
    if (this.#room === undefined || askedAtMs - this.#room.askedAtMs >= askAgainAfterMs) {
      this.#room = { askedAtMs, answer: this.#askRoom().catch(() => undefined) };
    }
    return this.#room.answer;
  }

  async #askRoom(): Promise<Room> {
    const [nodes, applications] = await Promise.all([
      this.#resourceManager.nodes(askedStates),
      this.#resourceManager.reports({ states: ["ACCEPTED", "RUNNING"] }),
    ]);
    return { nodes, applications };
  }
}

/** What an AM may have, and who else wants it. */
interface Room {
  readonly nodes: readonly NodeReport[];
  readonly applications: readonly ApplicationReport[];
}

/** With the earlier applications of its queue that wait for containers, too: free room may be kept for those. */
function withEarlier(
  reason: DelayReason & { readonly code: "am-not-placed" },
  { id, queue, startTimeMs }: ApplicationReport,
  applications: readonly ApplicationReport[],
): DelayReason {
  const earlier = applications.filter(({ usage, ...other }) => {
    const waits = usage !== undefined && usage.needed.memoryMiB > Math.max(0, usage.used.memoryMiB);
    return waits && other.id !== id && queueName(other.queue) === queueName(queue) && other.startTimeMs < startTimeMs;
  });
  return earlier.length === 0 ? reason : { ...reason, earlier: earlier.map((other) => `${other.id} (${other.user})`) };
}
