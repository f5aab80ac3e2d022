import type { RejectedRequest, ResourceRequest, SchedulingRequest } from "./allocation.ts";
import { parseNodeId } from "./ids.ts";
import type { Container, ContainerId, Resource } from "./records.ts";

/** What one heartbeat reports to the ResourceManager, besides that the attempt is alive. */
export interface Changes {
  readonly asks: readonly ResourceRequest[];
  readonly constrained: readonly SchedulingRequest[];
  readonly releases: readonly ContainerId[];
  readonly blacklistAdditions: readonly string[];
  readonly blacklistRemovals: readonly string[];
}

const anyPlace = "*";

/**
 * Everything that an application still wants from the ResourceManager, and the part of it that is yet to be sent. The ResourceManager keeps
 * the same table; after a restart its table is empty, and `resync` sends everything again
 * (org.apache.hadoop.yarn.client.api.impl.AMRMClientImpl).
 */
export class OutstandingRequests {
  readonly #rows = new Map<string, ResourceRequest>();
  readonly #changedRows = new Set<string>();
  /** By priority. */
  readonly #constrained = new Map<number, SchedulingRequest>();
  readonly #changedConstrained = new Set<number>();
  /** Kept until their end is reported. */
  readonly #releases = new Set<ContainerId>();
  readonly #newReleases = new Set<ContainerId>();
  readonly #blacklist = new Set<string>();
  #blacklistAdditions = new Set<string>();
  #blacklistRemovals = new Set<string>();

  /** Rows with a count above 0: those that a resync would request again. */
  get rows(): readonly ResourceRequest[] {
    return [...this.#rows.values()].filter(({ count }) => count > 0);
  }

  /** Sets rows; each count is the total outstanding. */
  ask(rows: readonly ResourceRequest[]): void {
    for (const row of rows) {
      const key = keyOf(row);
      this.#rows.set(key, row);
      this.#changedRows.add(key);
    }
  }

  /** Sets constrained requests; each count is the total outstanding. */
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

  /** Hosts on which nothing more is wanted, and hosts that are usable again. */
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

  /** The changes that are yet to be sent; they count as sent from now on. */
  take(): Changes {
    const changes = {
      asks: [...this.#changedRows].flatMap((key) => this.#rows.get(key) ?? []),
      constrained: [...this.#changedConstrained].flatMap((priority) => this.#constrained.get(priority) ?? []),
      releases: [...this.#newReleases],
      blacklistAdditions: [...this.#blacklistAdditions],
      blacklistRemovals: [...this.#blacklistRemovals],
    };
    // A withdrawn row is sent once, and no container may be matched to it.
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
   * The ResourceManager refused these changes and applied none of them (DefaultAMSProcessor#allocate checks before it acts). The requests
   * are dropped, or they would be refused for ever; the releases are kept.
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

  /** The ResourceManager has forgotten everything: all of it is to be sent again. */
  resync(): void {
    for (const [key, { count }] of this.#rows) if (count > 0) this.#changedRows.add(key);
    for (const [priority, { count }] of this.#constrained) if (count > 0) this.#changedConstrained.add(priority);
    for (const id of this.#releases) this.#newReleases.add(id);
    this.#blacklistAdditions = new Set(this.#blacklist);
    this.#blacklistRemovals = new Set();
  }

  /**
   * A container was allocated: each row that it satisfies wants one less, as in the ResourceManager's own table
   * (LocalityAppPlacementAllocator#allocate). We are not told which rack its host is in, so a rack's row is decremented only if that rack
   * is the only one named.
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

  /** The ResourceManager has given up on these. */
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

/** Capabilities are rounded up on the way, so priority and request id identify rows; callers keep them distinct. */
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
