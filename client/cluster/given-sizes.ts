import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import type { Resource } from "../../src/hadoop/yarn/records.ts";
import { type Rounding, roundedUp } from "../../src/job/amounts.ts";
import type { JobSpec } from "../../src/job/spec.ts";

/** By which words the keys of the scheduler name memory and cores. */
const MANDATORY: ReadonlyMap<string, string> = new Map([
  ["memory-mb", "mb"],
  ["vcores", "vcores"],
]);

/**
 * The job with the containers that YARN will give for what it asks: every ask is rounded up, so that sums and fits of what was written are
 * those of smaller containers (org.apache.hadoop.yarn.util.resource.DominantResourceCalculator#normalize). Only as this machine's copy of the
 * site's configuration says; what it does not say the ApplicationMaster learns of the first container.
 * @param maximum the largest container, which nothing is rounded beyond
 */
export function withGivenSizes(spec: JobSpec, configuration: Configuration, maximum: Resource): JobSpec {
  const given = (asked: Resource): Resource => {
    const round = (type: string, amount: number, most: number): number => {
      const rounded = roundedUp(amount, roundingOf(configuration, type));
      return amount === 0 || amount > most ? amount : Math.min(rounded, most);
    };
    const others = Object.entries(asked.others).map(([type, amount]) => {
      return [type, round(type, amount, maximum.others[type] ?? amount)] as const;
    });
    return {
      memoryMiB: round("memory-mb", asked.memoryMiB, maximum.memoryMiB),
      vcores: round("vcores", asked.vcores, maximum.vcores),
      others: Object.fromEntries(others),
    };
  };
  return {
    ...spec,
    am: { ...spec.am, resource: given(spec.am.resource) },
    roles: spec.roles.map((role) => ({ ...role, resource: given(role.resource) })),
  };
}

/**
 * CapacityScheduler rounds up to multiples of the least container, FairScheduler to those of an increment of its own.
 * @param unset what counts for each of the two where the configuration does not say
 */
export function roundingOf(configuration: Configuration, type: string, unset = 1): Rounding {
  const unit = MANDATORY.get(type);
  const numberOf = (what: string): number | undefined => {
    const keys = [
      `yarn.resource-types.${type}.${what}`,
      ...(unit === undefined ? [] : [`yarn.scheduler.${what}-${unit}`]),
    ];
    const text = keys.map((key) => configuration.get(key)).find((value) => value !== undefined) ?? "";
    return /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
  };
  const least = numberOf("minimum-allocation") ?? unset;
  const isFair = configuration.get("yarn.resourcemanager.scheduler.class")?.endsWith(".FairScheduler") === true;
  return { least, step: isFair ? (numberOf("increment-allocation") ?? unset) : least };
}
