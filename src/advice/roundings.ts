import type { Rounding, Roundings } from "../job/amounts.ts";

/** A configuration of Hadoop's. */
interface Properties {
  readonly get: (key: string) => string | undefined;
}

/** The scheduler's words for memory and cores in its keys. */
const MANDATORY: ReadonlyMap<string, string> = new Map([
  ["memory-mb", "mb"],
  ["vcores", "vcores"],
]);

/** yarn-default.xml: `yarn.scheduler.minimum-allocation-mb` */
const USUAL_LEAST_MIB = 1024;

/** The rounding of a cluster with the default configuration. */
export const usualRoundings: Roundings = {
  memoryMiB: { least: USUAL_LEAST_MIB, step: USUAL_LEAST_MIB },
  vcores: { least: 1, step: 1 },
};

/** The rounding of a cluster. */
export function roundingsOf(configuration: Properties): Roundings {
  return {
    memoryMiB: roundingOf(configuration, "memory-mb", USUAL_LEAST_MIB),
    vcores: roundingOf(configuration, "vcores"),
  };
}

/**
 * CapacityScheduler rounds up to multiples of the smallest container, FairScheduler to multiples of its own increment.
 * @param unset the value of either where the configuration does not set it
 */
export function roundingOf(configuration: Properties, type: string, unset = 1): Rounding {
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
