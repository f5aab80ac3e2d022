import type { ApplicationReport } from "../src/hadoop/yarn/records.ts";
import { type Roundings, roundedUp } from "../src/job/amounts.ts";
import { costOf, type Usage } from "../src/job/cost.ts";
import { gpusOf, gpuTypesOf } from "../src/job/gpus.ts";
import type { JobSpec } from "../src/job/spec.ts";

/**
 * What the tasks' containers held, for a job that YARN ended without a report by its ApplicationMaster: YARN's count, minus
 * what an ApplicationMaster held for the job's whole duration.
 * @param startedAtMs when the first ApplicationMaster began, where YARN does not say (Hadoop 2)
 * @returns undefined where YARN reports no use
 */
export function yarnUsage(
  { usage, launchTimeMs, finishTimeMs }: ApplicationReport,
  { am, roles, gpuTypes }: JobSpec,
  roundings: Roundings,
  startedAtMs: number,
): Usage | undefined {
  if (usage === undefined || usage.memorySeconds < 0 || usage.vcoreSeconds < 0) return undefined;
  const { memorySeconds, vcoreSeconds, resourceSeconds } = usage;
  const masterSeconds = Math.max(0, finishTimeMs - (launchTimeMs === 0 ? startedAtMs : launchTimeMs)) / 1000;
  const less = (all: number, amount: number) => Math.max(0, Math.round(all - amount * masterSeconds));
  const hasGpus = roles.some(({ resource }) => gpusOf(resource.others, gpuTypes) > 0);
  const held = {
    memoryMiBSeconds: less(memorySeconds, roundedUp(am.resource.memoryMiB, roundings.memoryMiB)),
    vcoreSeconds: less(vcoreSeconds, roundedUp(am.resource.vcores, roundings.vcores)),
    ...(hasGpus ? { gpuSeconds: gpusOf(resourceSeconds, gpuTypesOf({ gpuTypes, roles })) } : {}),
  };
  const cost = costOf(held, am);
  return cost === undefined ? held : { ...held, cost };
}
