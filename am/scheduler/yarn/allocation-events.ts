import type { Allocation } from "../../../src/hadoop/yarn/allocation.ts";
import type { Container, ContainerId } from "../../../src/hadoop/yarn/records.ts";
import { parseContainerDiagnostics } from "../../../src/job/diagnosis/container-diagnostics.ts";
import { listWords } from "../../../src/job/reasons/words.ts";
import type { Log } from "../../../src/log.ts";
import type { AllocatedContainer } from "../../core/state/events.ts";
import type { SchedulerEvent } from "../scheduler.ts";
import type { NodeTable } from "./node-table.ts";

/** What answers of the ResourceManager mean for the job, and the containers that they have reported. */
export class AllocationEvents {
  readonly #nodes: NodeTable;
  readonly #log: Log;
  readonly #containers = new Map<ContainerId, Container>();
  readonly #completed = new Set<ContainerId>();
  #headroom = "";

  constructor(nodes: NodeTable, log: Log) {
    this.#nodes = nodes;
    this.#log = log;
  }

  /** A container that has not ended, as far as this attempt knows. */
  container(id: ContainerId): Container | undefined {
    return this.#containers.get(id);
  }

  hasCompleted(id: ContainerId): boolean {
    return this.#completed.has(id);
  }

  remember(containers: readonly Container[]): readonly AllocatedContainer[] {
    for (const container of containers) this.#containers.set(container.id, container);
    return containers.map(allocatedContainer);
  }

  /** Completed containers come before new ones, which may be meant to replace them. */
  of(allocation: Allocation): SchedulerEvent[] {
    return [
      ...this.ofLate(allocation.containersFromPreviousAttempts),
      ...this.#ofNodes(allocation),
      ...this.#ofHeadroom(allocation),
      ...allocation.completed.map((completion) => this.#ofCompletion(completion)),
      ...ofPreemption(allocation),
      ...this.#ofAllocated(allocation),
    ];
  }

  /** Containers whose NodeManager re-registered with a restarted ResourceManager only after this attempt had. */
  ofLate(containers: readonly Container[]): SchedulerEvent[] {
    const untold = containers.filter(({ id }) => !this.#containers.has(id) && !this.#completed.has(id));
    if (untold.length === 0) return [];
    const words = listWords(untold.map(({ id, nodeId }) => `${id} on ${nodeId}`));
    this.#log.info("containers-late", `YARN reports containers of an earlier attempt late: ${words}.`);
    return [{ type: "containers-recovered-late", containers: this.remember(untold) }];
  }

  #ofNodes({ updatedNodes }: Allocation): SchedulerEvent[] {
    if (updatedNodes.length === 0) return [];
    const changed = this.#nodes.update(updatedNodes);
    for (const { host, healthReport } of changed) {
      if (healthReport === undefined) continue;
      this.#log.warn("node-unhealthy", `YARN does not use ${host} while it is unhealthy: ${healthReport}.`, { host });
    }
    return [{ type: "nodes-changed", nodes: changed }];
  }

  #ofHeadroom({ available }: Allocation): SchedulerEvent[] {
    const headroom = JSON.stringify(available);
    if (headroom === this.#headroom) return [];
    this.#headroom = headroom;
    return [{ type: "headroom-changed", available }];
  }

  #ofCompletion({ containerId, exitStatus, diagnostics }: Allocation["completed"][number]): SchedulerEvent {
    this.#containers.delete(containerId);
    this.#completed.add(containerId);
    return {
      type: "container-completed",
      containerId,
      exitStatus,
      diagnostics: parseContainerDiagnostics(diagnostics),
    };
  }

  #ofAllocated({ allocated }: Allocation): SchedulerEvent[] {
    if (allocated.length === 0) return [];
    return [{ type: "containers-allocated", containers: this.remember(allocated) }];
  }
}

function ofPreemption({ preemption }: Allocation): SchedulerEvent[] {
  const { strict = [], negotiable } = preemption ?? {};
  const some = negotiable?.containers ?? [];
  return [
    ...(strict.length > 0 ? [{ type: "preemption-notice", containerIds: strict, strict: true } as const] : []),
    ...(some.length > 0 ? [{ type: "preemption-notice", containerIds: some, strict: false } as const] : []),
  ];
}

function allocatedContainer({ id, nodeId, nodeHttpAddress, priority, resource }: Container): AllocatedContainer {
  const host = nodeId.slice(0, nodeId.lastIndexOf(":"));
  return { containerId: id, nodeId, host, nodeHttpAddress, priority, resource };
}
