import { errorMessage } from "../../hadoop/errors.ts";
import { gpusOf } from "../gpus.ts";
import { integer, memory } from "../keys/types.ts";
import { findKey, keyFor } from "../keys.ts";
import type { RoleSpec } from "../spec.ts";
import type { JobReader } from "./job-reader.ts";

/** The limits that a site sets for every job: instances of a role, instances in all, and totals of a resource. */
export function checkLimits(reader: JobReader, roles: readonly RoleSpec[]): void {
  for (const { name: role, instances } of roles) {
    const max = reader.read("tony.{role}.max-instances", { role });
    if (max !== undefined && instances > max) {
      reader.error(
        keyFor("tony.{role}.instances", { role }),
        `asks for ${instances}, the limit is ${max} (${placed(reader, keyFor("tony.{role}.max-instances", { role }))})`,
      );
    }
  }
  const total = roles.reduce((sum, role) => sum + role.instances, 0);
  const maxTotal = reader.read("tony.task.max-total-instances");
  if (maxTotal !== undefined && total > maxTotal) {
    reader.error(
      "tony.task.max-total-instances",
      `is ${maxTotal}, the job asks for ${total} in all: lower tony.<role>.instances`,
    );
  }
  for (const { key, value } of reader.settings.values()) {
    const found = findKey(key);
    if (found?.name !== "tony.task.max-total-{resource}") continue;
    checkTotal(reader, roles, key, found.parameters.resource ?? "", value);
  }
}

function checkTotal(reader: JobReader, roles: readonly RoleSpec[], key: string, resource: string, text: string): void {
  const max = totalLimit(reader, key, resource, text);
  if (max === undefined) return;
  const total = roles.reduce((sum, role) => sum + role.instances * amountOf(reader, role, resource), 0);
  const unit = resource === "memory" ? " MiB" : "";
  if (total > max)
    reader.error(
      key,
      `is ${max}${unit}, the job asks for ${total}${unit} in all: lower tony.<role>.${resource} or instances`,
    );
}

function totalLimit(reader: JobReader, key: string, resource: string, text: string): number | undefined {
  if (text.trim().startsWith("-")) return undefined;
  try {
    return (resource === "memory" ? memory : integer()).parse(text);
  } catch (error) {
    reader.error(key, `must be ${errorMessage(error)}`);
    return undefined;
  }
}

function amountOf(reader: JobReader, { resource }: RoleSpec, name: string): number {
  if (name === "memory") return resource.memoryMiB;
  if (name === "vcores") return resource.vcores;
  if (name === "gpus") return gpusOf(resource.others, reader.read("tony.gpu-resource-types"));
  return resource.others[name] ?? 0;
}

function placed(reader: JobReader, key: string): string {
  const at = reader.settings.get(key)?.at;
  return at === undefined ? key : `${key}, ${at}`;
}
