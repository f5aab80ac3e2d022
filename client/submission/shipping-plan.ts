import type { JobSpec, ResourceToLocalize } from "../../src/job/spec.ts";
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

/** @param runtime what the containers' Node needs: see `provideRuntime` */
export function shippingPlan(spec: JobSpec, runtime: readonly ShipItem[]): ShippingPlan {
  const program = (name: "am" | "executor"): ShipItem => {
    return { link: `${name}.mjs`, source: programPath(name), as: "file", shared: true };
  };
  return {
    master: [...runtime, program("am"), ...spec.am.resources.map(shipItem)],
    all: [...runtime, program("executor"), ...spec.resources.map(shipItem)],
    byRole: Object.fromEntries(spec.roles.map(({ name, resources }) => [name, resources.map(shipItem)])),
  };
}

/** Everything once. */
export function itemsOf({ master, all, byRole }: ShippingPlan): ShipItem[] {
  return [...new Set([...master, ...all, ...Object.values(byRole).flat()])];
}

function shipItem({ name, source, as }: ResourceToLocalize): ShipItem {
  return { link: name, source, as };
}
