import type { JobSpec, ResourceToLocalize } from "../../src/job/spec.ts";
import { shipOption } from "../../src/job/submission.ts";
import { programPath } from "../../src/programs.ts";
import type { ShipItem } from "../shipping/shipping.ts";

/** What travels with a job, and whose containers find it. */
export interface ShippingPlan {
  /** The AM's: a start is as long as fetching and unpacking, so it gets nothing that only tasks need. */
  readonly master: readonly ShipItem[];
  /** Every task's. */
  readonly all: readonly ShipItem[];
  /** Beyond those, one role's. */
  readonly byRole: Readonly<Record<string, readonly ShipItem[]>>;
}

/**
 * @param runtime what the containers' Node needs: see `provideRuntime`
 * @param optional what options of the command line ship, among the resources of every task
 */
export function shippingPlan(
  spec: JobSpec,
  runtime: readonly ShipItem[],
  optional: readonly ResourceToLocalize[] = [],
): ShippingPlan {
  return {
    master: [...runtime, programItem("am"), ...named(spec.am.resources, "tony.am.resources")],
    all: [...runtime, programItem("executor"), ...named(spec.resources, "tony.containers.resources")],
    byRole: Object.fromEntries(
      spec.roles.map(({ name, resources }) => [name, named(resources, `tony.${name}.resources`)]),
    ),
  };

  function named(resources: readonly ResourceToLocalize[], key: string): ShipItem[] {
    const at = spec.sources[key];
    const namedByKey = at === undefined ? key : `${at}: ${key}`;
    return resources.map(({ name, source, as }) => {
      const isOptional = optional.some((option) => option.name === name && option.source === source);
      return { link: name, source, as, namedBy: isOptional ? shipOption(as) : namedByKey };
    });
  }
}

/** A program of ours. */
export function programItem(name: "am" | "executor"): ShipItem {
  return { link: `${name}.mjs`, source: programPath(name), as: "file", shared: true };
}

/** Everything once. */
export function itemsOf({ master, all, byRole }: ShippingPlan): ShipItem[] {
  return [...new Set([...master, ...all, ...Object.values(byRole).flat()])];
}
