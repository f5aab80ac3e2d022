import type { QueueInfo } from "../../src/hadoop/yarn/records.ts";
import { isFairScheduler, leaves } from "./cluster-facts.ts";
import type { Finding } from "./finding.ts";

/** What the ResourceManager says of queues; what it does not know, or not show, is absent. */
export interface QueueFacts {
  readonly queue: QueueInfo | undefined;
  readonly root: QueueInfo | undefined;
  readonly acls: ReadonlyMap<string, readonly string[]>;
}

/** Whether jobs can go to the queue of that name. */
export function queueFinding(name: string, { queue, root, acls }: QueueFacts): Finding {
  if (root !== undefined && isFairScheduler(root)) return fairFinding(name, queue);
  const all =
    root === undefined
      ? ""
      : leaves(root)
          .map((leaf) => leaf.name)
          .join(", ");
  const remedy = `choose another with tony.yarn.queue: ${all}`;
  const wrong = (found: string): Finding => ({ subject: "queue", state: "wrong", found, remedy });
  if (queue === undefined) return wrong(`there is no queue ${name}`);
  if (queue.children.length > 0) return wrong(`${name} takes no applications itself`);
  if (queue.state !== "RUNNING") return wrong(`${name} is ${queue.state}`);
  if (acls.size > 0 && !mayBeSubmittedTo(queue, acls)) return wrong(`you may not submit to ${name}`);
  const share = `${percent(queue.capacity)} of its parent, up to ${percent(queue.maximumCapacity)}`;
  return { subject: "queue", state: "well", found: `${name}: ${share}, now ${percent(queue.currentCapacity)} used` };
}

/** FairScheduler decides at the submission where a job goes, and tells no shares of a queue's parent. */
function fairFinding(name: string, queue: QueueInfo | undefined): Finding {
  if (queue !== undefined && queue.children.length === 0) {
    return { subject: "queue", state: "well", found: `${name} is there (FairScheduler)` };
  }
  const state = queue === undefined ? `there is no queue ${name} yet` : `${name} holds other queues`;
  const found = `${state}: FairScheduler makes queues, or places jobs, by its rules`;
  return { subject: "queue", state: "remark", found, remedy: "if it refuses a job, name a queue with tony.yarn.queue" };
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Lists name queues by their path or by their last word, depending on the ResourceManager's age. */
function mayBeSubmittedTo(queue: QueueInfo, acls: ReadonlyMap<string, readonly string[]>): boolean {
  const entry = acls.get(queue.path) ?? acls.get(queue.name);
  return entry === undefined || entry.some((acl) => acl.startsWith("SUBMIT"));
}
