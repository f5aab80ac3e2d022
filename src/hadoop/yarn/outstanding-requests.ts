import type { RejectedRequest, ResourceRequest, SchedulingRequest } from "./allocation.ts";
import { parseNodeId } from "./ids.ts";
import type { Container, ContainerId, Resource } from "./records.ts";

/** What one heartbeat tells the ResourceManager besides being alive. */
export interface Changes {
  readonly asks: readonly ResourceRequest[];
  readonly constrained: readonly SchedulingRequest[];
  readonly releases: readonly ContainerId[];
  readonly blacklistAdditions: readonly string[];
  readonly blacklistRemovals: readonly string[];
}

const anyPlace = "*";

/**
 * All that an application still wants of the ResourceManager, and what of it is yet to be told. The ResourceManager keeps the same
 * table; after its restart it starts empty, and `resync` has everything told again (org.apache.hadoop.yarn.client.api.impl.AMRMClientImpl).
 */
export class OutstandingRequests {
  readonly #rows = new Map<string, ResourceRequest>();
  readonly #changedRows = new Set<string>();
  /** By priority. */
  readonly #constrained = new Map<number, SchedulingRequest>();
  readonly #changedConstrained = new Set<number>();
  /** Until their end is reported. */
  readonly #releases = new Set<ContainerId>();
  readonly #newReleases = new Set<ContainerId>();
  readonly #blacklist = new Set<string>();
  #blacklistAdditions = new Set<string>();
  #blacklistRemovals = new Set<string>();

  /** Rows with a count above 0: what would be asked for again after a resync. */
  get rows(): readonly ResourceRequest[] {
    return [...this.#rows.values()].filter(({ count }) => count > 0);
  }

  /** Sets rows; each count is the whole number outstanding. */
  ask(rows: readonly ResourceRequest[]): void {
    for (const row of rows) {
      const key = keyOf(row);
      this.#rows.set(key, row);
      this.#changedRows.add(key);
    }
  }

  /** Sets constrained requests; each count is the whole number outstanding. */
  askConstrained(requests: readonly SchedulingRequest[]): void {
    for (const request of requests) {
      this.#constrained.set(request.priority, request);
      this.#changedConstrained.add(request.priority);
    }
  }

  release(ids: readonly ContainerId[]): void {
    for (const id of ids) {
      this.#releases.add(id);
      this.#newReleases.add(id);
    }
  }

  /** Hosts on which nothing more is wanted, and hosts that are good again. */
  blacklist({
    add = [],
    remove = [],
  }: {
    readonly add?: readonly string[];
    readonly remove?: readonly string[];
  }): void {
    for (const host of add) {
      this.#blacklist.add(host);
      this.#blacklistAdditions.add(host);
      this.#blacklistRemovals.delete(host);
    }
    for (const host of remove) {
      this.#blacklist.delete(host);
      this.#blacklistAdditions.delete(host);
      this.#blacklistRemovals.add(host);
    }
  }

  /** What is yet to be told; it counts as told from now on. */
  take(): Changes {
    const changes = {
      asks: [...this.#changedRows].flatMap((key) => this.#rows.get(key) ?? []),
      constrained: [...this.#changedConstrained].flatMap((priority) => this.#constrained.get(priority) ?? []),
      releases: [...this.#newReleases],
      blacklistAdditions: [...this.#blacklistAdditions],
      blacklistRemovals: [...this.#blacklistRemovals],
    };
    // What is not wanted any more is told once, and is no row that a container may answer.
    for (const key of this.#changedRows) if (this.#rows.get(key)?.count === 0) this.#rows.delete(key);
    this.#changedRows.clear();
    for (const { priority, count } of changes.constrained) if (count === 0) this.#constrained.delete(priority);
    this.#changedConstrained.clear();
    this.#newReleases.clear();
    this.#blacklistAdditions = new Set();
    this.#blacklistRemovals = new Set();
    return changes;
  }

  /**
   * The ResourceManager refused these changes and took none of them (DefaultAMSProcessor#allocate checks before it acts). What was asked
   * for is not wanted any more, or it would be refused for ever; what was given back still is.
   */
  refused({ asks, constrained, releases }: Changes): void {
    for (const row of asks) {
      this.#rows.delete(keyOf(row));
      this.#changedRows.delete(keyOf(row));
    }
    for (const { priority } of constrained) {
      this.#constrained.delete(priority);
      this.#changedConstrained.delete(priority);
    }
    for (const id of releases) if (this.#releases.has(id)) this.#newReleases.add(id);
  }

  /** The ResourceManager has forgotten everything: all of it is to be told again. */
  resync(): void {
    for (const [key, { count }] of this.#rows) if (count > 0) this.#changedRows.add(key);
    for (const [priority, { count }] of this.#constrained) if (count > 0) this.#changedConstrained.add(priority);
    for (const id of this.#releases) this.#newReleases.add(id);
    this.#blacklistAdditions = new Set(this.#blacklist);
    this.#blacklistRemovals = new Set();
  }

  /**
   * A container came: the rows that it answers want one less, as in the ResourceManager's own table
   * (LocalityAppPlacementAllocator#allocate). Which rack its host is in is not told, so a rack's row is lowered only where it is the
   * one rack that was named.
   */
  granted(container: Container): void {
    this.#lower(container.priority, 1);
    const { host } = parseNodeId(container.nodeId);
    const answered = [...this.#rows].filter(([, row]) => answers(container, row));
    const racks = answered.filter(([, row]) => row.resourceName.startsWith("/"));
    for (const [key, row] of answered) {
      const onlyRack = racks.length === 1 && racks[0]?.[0] === key;
      if (row.resourceName !== anyPlace && row.resourceName !== host && !onlyRack) continue;
      this.#rows.set(key, { ...row, count: Math.max(0, row.count - 1) });
    }
  }

  /** The ResourceManager does not look for these any more. */
  rejected({ priority, count }: RejectedRequest): void {
    this.#lower(priority, count);
  }

  #lower(priority: number, by: number): void {
    const request = this.#constrained.get(priority);
    if (request !== undefined) this.#constrained.set(priority, { ...request, count: Math.max(0, request.count - by) });
  }

  /** A container's end was reported. */
  ended(id: ContainerId): void {
    this.#releases.delete(id);
    this.#newReleases.delete(id);
  }
}

/** Capabilities are rounded up on the way, so priority and request id are what tells rows apart; users keep them distinct. */
function answers(container: Container, row: ResourceRequest): boolean {
  return row.priority === container.priority && (row.allocationRequestId ?? -1) === container.allocationRequestId;
}

function keyOf(row: ResourceRequest): string {
  return JSON.stringify([
    row.priority,
    row.resourceName,
    row.allocationRequestId ?? -1,
    row.executionType ?? "GUARANTEED",
    capabilityKey(row.capability),
  ]);
}

function capabilityKey({ memoryMiB, vcores, others }: Resource): readonly unknown[] {
  const entries = Object.entries(others).filter(([, amount]) => amount !== 0);
  return [memoryMiB, vcores, ...entries.sort(([one], [other]) => (one < other ? -1 : 1))];
}
