import { errorMessage } from "../../../src/hadoop/errors.ts";
import type { Allocation, ResourceRequest, SchedulingRequest } from "../../../src/hadoop/yarn/allocation.ts";
import type { Ask } from "../../core/state/effects.ts";
import type { SchedulerEvent } from "../scheduler.ts";
import { requestRows } from "./request-rows.ts";
import { UntoldAsks } from "./untold-asks.ts";

/** What asking needs of SchedulerClient: what goes with its next heartbeat. */
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

  /** Whether containers are to come. */
  get areAwaited(): boolean {
    return [...this.#outstanding.values()].some((count) => count > 0);
  }

  add(ask: Ask): void {
    this.#untold.add(ask);
  }

  /** Gives the next heartbeat what it is to tell. @returns what came of asks that cannot be told at all */
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

  /** The ResourceManager took what it was told. @returns whether there is more to tell */
  answered(): boolean {
    return this.#untold.answered();
  }

  /** It refused something as too large. @returns which ask; undefined where that is not known, and will be told one by one */
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
