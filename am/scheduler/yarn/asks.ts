import { errorMessage } from "../../../src/hadoop/errors.ts";
import type { Allocation, ResourceRequest, SchedulingRequest } from "../../../src/hadoop/yarn/allocation.ts";
import type { Ask } from "../../core/state/effects.ts";
import type { SchedulerEvent } from "../scheduler.ts";

/** What asking needs of SchedulerClient: additions to its next heartbeat. */
export interface AskTeller {
  ask(rows: readonly ResourceRequest[]): void;
  askConstrained(requests: readonly SchedulingRequest[]): void;
}

/** What is asked of the ResourceManager for each role, and how much of it is still to come. */
export class Asks {
  readonly #teller: AskTeller;
  readonly #untold = new UntoldAsks();
  /** By priority: each role has its own. */
  readonly #outstanding = new Map<number, number>();
  /** By priority. */
  readonly #constrainedRoles = new Map<number, string>();

  constructor(teller: AskTeller) {
    this.#teller = teller;
  }

  /** Whether containers are still to come. */
  get areAwaited(): boolean {
    return [...this.#outstanding.values()].some((count) => count > 0);
  }

  add(ask: Ask): void {
    this.#untold.add(ask);
  }

  /** Adds to the next heartbeat what it is to say. @returns the results of asks that cannot be sent at all */
  tell(): SchedulerEvent[] {
    return this.#untold.take().flatMap(({ ask, before }): SchedulerEvent[] => {
      try {
        this.#tellOne(ask, before);
        this.#outstanding.set(ask.priority, ask.count);
        return [];
      } catch (error) {
        return [{ type: "ask-refused", message: `${ask.role}: ${errorMessage(error)}` }];
      }
    });
  }

  /** The ResourceManager accepted what it was sent. @returns whether there is more to send */
  answered(): boolean {
    return this.#untold.answered();
  }

  /**
   * It refused something as too large. @returns which ask; undefined while that is not known: asks are then sent one by one
   */
  tooLarge(): Ask | undefined {
    const ask = this.#untold.refused();
    if (ask !== undefined) this.#outstanding.delete(ask.priority);
    return ask;
  }

  allocated(containers: Allocation["allocated"]): void {
    for (const { priority } of containers) {
      this.#outstanding.set(priority, (this.#outstanding.get(priority) ?? 0) - 1);
    }
  }

  /** It finds no place for some. */
  unplaced(rejected: Allocation["rejected"]): SchedulerEvent[] {
    return rejected.flatMap(({ priority, count }): SchedulerEvent[] => {
      const role = this.#constrainedRoles.get(priority);
      if (role === undefined) return [];
      this.#outstanding.delete(priority);
      return [{ type: "ask-unplaced", role, count }];
    });
  }

  #tellOne(ask: Ask, before: Ask | undefined): void {
    const { priority, resource: capability, count, constrained, nodeLabel } = ask;
    if (constrained === undefined) {
      this.#teller.ask(requestRows(ask, before));
      return;
    }
    this.#constrainedRoles.set(priority, ask.role);
    const label = nodeLabel === undefined ? {} : { nodeLabel };
    this.#teller.askConstrained([{ priority, capability, count, ...constrained, ...label }]);
  }
}

/** An ask, and the one that it replaces, as the ResourceManager took it. */
interface UntoldAsk {
  readonly ask: Ask;
  readonly before: Ask | undefined;
}

/**
 * What the ResourceManager has yet to be sent about each role's containers, and what it has not answered. It refuses a whole heartbeat
 * because of one ask that is too large, and accepts none of it: all asks are then sent one by one, and the one refused alone is too
 * large.
 */
export class UntoldAsks {
  /** By priority: each role has its own. */
  readonly #untold = new Map<number, Ask>();
  readonly #taken = new Map<number, Ask>();
  #told: Ask[] = [];
  #oneByOne = false;

  add(ask: Ask): void {
    this.#untold.set(ask.priority, ask);
  }

  /** What goes with the next heartbeat; not to be called while an earlier one waits to be repeated. */
  take(): UntoldAsk[] {
    const asks = [...this.#untold.values()].slice(0, this.#oneByOne ? 1 : undefined);
    for (const { priority } of asks) this.#untold.delete(priority);
    this.#told = asks;
    return asks.map((ask) => ({ ask, before: this.#taken.get(ask.priority) }));
  }

  /** The ResourceManager accepted what it was sent. @returns whether there is more to send */
  answered(): boolean {
    for (const ask of this.#told.splice(0)) this.#taken.set(ask.priority, ask);
    this.#oneByOne &&= this.#untold.size > 0;
    return this.#untold.size > 0;
  }

  /** It refused something. @returns which ask; undefined while that is not known: asks are then sent one by one */
  refused(): Ask | undefined {
    // A resync repeats what was accepted before.
    const told = this.#told.length > 0 ? this.#told : [...this.#taken.values()].filter(({ count }) => count > 0);
    this.#told = [];
    for (const { priority } of told) this.#taken.delete(priority);
    if (told.length === 1) return told[0];
    this.#oneByOne = true;
    for (const ask of told) if (!this.#untold.has(ask.priority)) this.#untold.set(ask.priority, ask);
    return undefined;
  }
}

/** Anywhere (org.apache.hadoop.yarn.api.records.ResourceRequest#ANY). */
const anywhere = "*";

/**
 * The ResourceRequests of one ask. A row for a host needs its rack's row and the `*` row in the same call. A row of the earlier ask that is
 * no longer wanted must be set to 0, or it would stay for ever.
 * @param before the role's ask that this one replaces
 */
export function requestRows(ask: Ask, before: Ask | undefined): ResourceRequest[] {
  const wanted = positiveRows(ask);
  const names = new Set(wanted.map((row) => row.resourceName));
  const withdrawn = before === undefined ? [] : withdrawnRows(before, ask, names);
  return [...withdrawn, ...wanted];
}

/**
 * The `*` row comes last and carries the whole count, also when it is 0; it alone names the label. If only the named hosts will do, this
 * row and the racks' rows say so.
 */
function positiveRows(ask: Ask): ResourceRequest[] {
  const row = (resourceName: string, count: number): ResourceRequest => ({
    priority: ask.priority,
    resourceName,
    capability: ask.resource,
    count,
  });
  const label = ask.nodeLabel === undefined ? {} : { nodeLabelExpression: ask.nodeLabel };
  const strict = ask.relaxLocality === false ? { relaxLocality: false } : {};
  return [
    ...ask.hosts.map(({ host, count }) => row(host, count)),
    ...ask.racks.map(({ rack, count }) => ({ ...row(rack, count), ...strict })),
    { ...row(anywhere, ask.count), ...label, ...strict },
  ];
}

function withdrawnRows(before: Ask, now: Ask, kept: ReadonlySet<string>): ResourceRequest[] {
  const sameCapability = JSON.stringify(before.resource) === JSON.stringify(now.resource);
  return positiveRows(before)
    .filter((row) => !(sameCapability && kept.has(row.resourceName)))
    .map((row) => ({ ...row, count: 0 }));
}
