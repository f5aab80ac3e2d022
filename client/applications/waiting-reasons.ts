import type { ApplicationReport, NodeReport } from "../../src/hadoop/yarn/records.ts";
import type { ResourceManagerClient } from "../../src/hadoop/yarn/resource-manager.ts";
import type { DelayReason } from "../../src/job/reasons/waits.ts";
import type { JobStatus } from "../../src/job/status.ts";
import { queueName } from "./job-filter.ts";
import { type ClusterUse, isVague, withShortages } from "./shortage.ts";
import { askedStates, isOfNodes, withNodes } from "./waiting-nodes.ts";
import { waitingReason } from "./waiting-reason.ts";

/** Most AMs get their container sooner. */
const askAfterMs = 1_500;
/** An AM that can reach the ResourceManager registers sooner. */
const registersWithinMs = 20_000;
/** The nodes of a large cluster are a long list. */
const askAgainAfterMs = 30_000;

type Asked = Pick<ResourceManagerClient, "nodes" | "nodeLabels" | "reports">;

/** Why AMs of a cluster do not run yet, and why their containers are missing: from their reports and, for those that wait longer, from the nodes. */
export class WaitingReasons {
  readonly #resourceManager: Asked;
  readonly #now: () => number;
  readonly #schedulerWords: () => string;
  /** When each AM was first seen to have its container, by application id. */
  readonly #startingSinceMs = new Map<string, number>();
  readonly #room: Remembered<Room>;
  readonly #use: Remembered<ClusterUse>;

  /** @param schedulerWords where AMs look for the ResourceManager, and which key says so */
  constructor(resourceManager: Asked, now: () => number, schedulerWords: () => string) {
    this.#resourceManager = resourceManager;
    this.#now = now;
    this.#schedulerWords = schedulerWords;
    this.#room = new Remembered(() => this.#askRoom(), now);
    this.#use = new Remembered(() => this.#askUse(), now);
  }

  async reason(report: ApplicationReport): Promise<DelayReason> {
    const reason = waitingReason(report);
    if (reason.code === "am-starting") return this.#withAddress(reason, report);
    if (!isOfNodes(reason) || this.#now() - report.startTimeMs < askAfterMs) return reason;
    const room = await this.#room.answer();
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

  /** The status, with who holds what its containers wait for. */
  async explained(status: JobStatus): Promise<JobStatus> {
    if (!this.#isWorthAsking(status)) return status;
    const use = await this.#use.answer();
    return use === undefined ? status : withShortages(status, use);
  }

  /** The same from the last answer, without waiting. */
  explainedSoon(status: JobStatus): JobStatus {
    if (!this.#isWorthAsking(status)) return status;
    void this.#use.answer();
    return this.#use.last === undefined ? status : withShortages(status, this.#use.last);
  }

  #isWorthAsking({ waits, nowMs }: JobStatus): boolean {
    return waits.some((wait) => isVague(wait) && nowMs - wait.sinceMs >= askAfterMs);
  }

  async #askUse(): Promise<ClusterUse> {
    const [nodes, labels, applications] = await Promise.all([
      this.#resourceManager.nodes(["RUNNING"]),
      this.#resourceManager.nodeLabels(),
      this.#resourceManager.reports({ states: ["ACCEPTED", "RUNNING"] }),
    ]);
    return { nodes, sharedLabels: labels.flatMap(({ name, exclusive }) => (exclusive ? [] : [name])), applications };
  }

  async #askRoom(): Promise<Room> {
    const [nodes, applications] = await Promise.all([
      this.#resourceManager.nodes(askedStates),
      this.#resourceManager.reports({ states: ["ACCEPTED", "RUNNING"] }),
    ]);
    return { nodes, applications };
  }
}

/** A question that the ResourceManager is asked again only after a while. */
class Remembered<Answer> {
  readonly #ask: () => Promise<Answer>;
  readonly #now: () => number;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #answer: Promise<Answer | undefined> = Promise.resolve(undefined);
  /** The last answer; undefined where the ResourceManager gave none. */
  last: Answer | undefined;

  constructor(ask: () => Promise<Answer>, now: () => number) {
    this.#ask = ask;
    this.#now = now;
  }

  /** Undefined where the ResourceManager gives no answer. */
  answer(): Promise<Answer | undefined> {
    const nowMs = this.#now();
    if (nowMs - this.#askedAtMs >= askAgainAfterMs) {
      this.#askedAtMs = nowMs;
      this.#answer = this.#ask()
        .catch(() => undefined)
        .then((answer) => (this.last = answer));
    }
    return this.#answer;
  }
}

/** What is free for an AM, and who else wants it. */
interface Room {
  readonly nodes: readonly NodeReport[];
  readonly applications: readonly ApplicationReport[];
}

/** The reason, with the earlier applications of the queue that wait for containers too: free room may be reserved for those. */
function withEarlier(
  reason: DelayReason & { readonly code: "am-not-placed" },
  { queue, startTimeMs }: ApplicationReport,
  applications: readonly ApplicationReport[],
): DelayReason {
  const earlier = applications.filter(({ usage, ...other }) => {
    const waits = usage !== undefined && usage.needed.memoryMiB > Math.max(0, usage.used.memoryMiB);
    return waits && queueName(other.queue) === queueName(queue) && other.startTimeMs < startTimeMs;
  });
  return earlier.length === 0 ? reason : { ...reason, earlier: earlier.map((other) => `${other.id} (${other.user})`) };
}
