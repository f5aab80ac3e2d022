import { writeProperties } from "../../hadoop/conf/write-xml.ts";
import { gpusOf } from "../../job/gpus.ts";
import { effectiveKeys } from "../../job/key-list.ts";
import type { Settings } from "../../job/settings.ts";
import type { JobSpec, RoleSpec } from "../../job/spec.ts";
import { withoutSecret } from "../secrets.ts";

/**
 * The job's settings, those of its files, and the defaults, as a Hadoop configuration file. It always contains the size of each role, in
 * the form that Dr. Elephant reads, and never a secret.
 */
export function writeTonyFinalXml(settings: Settings, spec: JobSpec): string {
  const values = new Map<string, { readonly value: string; readonly source: string }>();
  for (const { key, value, at } of effectiveKeys(settings)) {
    if (value !== undefined) values.set(key, { value: withoutSecret(key, value), source: at ?? "default" });
  }
  for (const [key, value] of [
    ["tony.application.name", spec.name] as const,
    ...spec.roles.flatMap((role) => sizeOf(role, spec)),
  ]) {
    values.set(key, { value, source: values.get(key)?.source ?? "default" });
  }
  return writeProperties([...values].map(([name, { value, source }]) => ({ name, value, source })));
}

function sizeOf({ name, instances, resource }: RoleSpec, { gpuTypes }: JobSpec): [string, string][] {
  return [
    [`tony.${name}.instances`, String(instances)],
    [`tony.${name}.memory`, `${resource.memoryMiB}m`],
    [`tony.${name}.vcores`, String(resource.vcores)],
    [`tony.${name}.gpus`, String(gpusOf(resource.others, gpuTypes))],
  ];
}

/** The name of a job's settings in its staging and history folders, as in TonY. */
export const tonyFinalXml = "tony-final.xml";
