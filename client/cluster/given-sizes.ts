import { roundingOf } from "../../src/advice/roundings.ts";
import type { Configuration } from "../../src/hadoop/conf/configuration.ts";
import type { Resource } from "../../src/hadoop/yarn/records.ts";
import { roundedUp } from "../../src/job/amounts.ts";
import type { JobSpec } from "../../src/job/spec.ts";

/**
 * The job with the container sizes that YARN will give: it rounds every request up, so that sums and fits of the written sizes would be too
 * small (org.apache.hadoop.yarn.util.resource.DominantResourceCalculator#normalize). Uses only this machine's copy of the site's
 * configuration; what it does not say, the ApplicationMaster learns from the first container.
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
