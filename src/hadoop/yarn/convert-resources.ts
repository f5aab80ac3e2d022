/** Resources ⇄ ResourceProto. The fields `memory` and `virtual_cores` take precedence; the map contains the other types. */
import type { hadoop } from "../wire/yarn.ts";
import { toNumber } from "./convert-ids.ts";
import type { Resource, ResourceType } from "./records.ts";
import { namedTypes, type ResourceTypes } from "./resource-types.ts";

type ResourceProto = hadoop.yarn.ResourceProto.$Properties;

const fieldNames: ReadonlySet<string> = new Set(["memory-mb", "vcores"]);

/** Throws UnknownResourceTypeError. */
export function resourceToWire(resource: Resource, types: ResourceTypes): ResourceProto {
  return {
    memory: resource.memoryMiB,
    virtual_cores: resource.vcores,
    resource_value_map: namedTypes(resource).map((key) => ({
      key,
      value: resource.others[key] ?? 0,
      units: types.unitsOf(key),
    })),
  };
}

/** An absent message means no resources. Types of amount 0 are left out. */
export function resourceFromWire(message: ResourceProto | null | undefined): Resource {
  const others = (message?.resource_value_map ?? [])
    .filter(({ key }) => !fieldNames.has(key))
    .map(({ key, value }) => [key, toNumber(value)] as const)
    .filter(([, value]) => value !== 0);
  return {
    memoryMiB: toNumber(message?.memory),
    vcores: message?.virtual_cores ?? 0,
    others: Object.fromEntries(others),
  };
}

export function resourceTypesFromWire(
  messages: readonly hadoop.yarn.ResourceTypeInfoProto.$Properties[] | null | undefined,
): readonly ResourceType[] {
  return (messages ?? []).map(({ name, units }) => ({ name, units: units ?? "" }));
}
