import type { ResourceType } from "../../hadoop/yarn/records.ts";
import { gpuTypesAmong, isGpu } from "../gpus.ts";

/** Factors of 1000 and 1024 (org.apache.hadoop.yarn.util.UnitsConversionUtil); `m` is a thousandth. */
const ONES_PER_UNIT: Readonly<Record<string, number>> = {
  p: 1e-12,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
};

/**
 * An amount of a resource type, in the type's own unit: `4`, `16G`. A bare number is in that unit already.
 * @param key the key that requests it
 * @param types those that the cluster has; without them amounts are in units of one, and any name passes
 * @throws RangeError whose message completes "<key> …"
 */
export function parseResourceAmount(key: string, name: string, text: string, types?: readonly ResourceType[]): number {
  const [, digits, units] = /^(\d{1,15})\s*([A-Za-z]{0,2})$/.exec(text.trim()) ?? [];
  const scale = ONES_PER_UNIT[units ?? ""];
  if (digits === undefined || scale === undefined) {
    throw new RangeError(
      `must be a whole amount, with one of YARN's units if any (k, M, G, Ki, Mi, Gi, …), not "${text}"`,
    );
  }
  const type = types?.find((known) => known.name === name);
  if (types !== undefined && type === undefined && Number(digits) > 0)
    throw new RangeError(unknownType(key, name, types));
  if (units === undefined || units === "") return Number(digits);
  const amount = (Number(digits) * scale) / (ONES_PER_UNIT[type?.units ?? ""] ?? 1);
  if (!Number.isSafeInteger(amount)) {
    throw new RangeError(`is not a whole number of the cluster's unit of ${name}, "${type?.units ?? ""}": "${text}"`);
  }
  return amount;
}

function unknownType(key: string, name: string, types: readonly ResourceType[]): string {
  const names = types.map((type) => type.name);
  const gpus = gpuTypesAmong(names);
  const mend = isGpu(name) && gpus.length > 0 ? `; ${gpuMend(key, name, gpus)}` : "";
  return `asks for ${name}, which is not a resource type of the cluster; it has ${names.join(", ")}${mend}`;
}

/** `gpus` requests the type that the site uses for GPUs; another key names the type itself. */
function gpuMend(key: string, name: string, gpus: readonly string[]): string {
  if (!key.endsWith(`.resource.${name}`)) return `set tony.gpu-resource-types to ${gpus.join(",")}`;
  return `write ${gpus.map((gpu) => key.slice(0, -name.length) + gpu).join(" or ")}`;
}
