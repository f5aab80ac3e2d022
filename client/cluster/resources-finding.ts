import type { NodeReport, Resource, ResourceType } from "../../src/hadoop/yarn/records.ts";
import { gpuTypesAmong } from "../../src/job/gpus.ts";
import { amountWords, memoryWords } from "../../src/job/reasons/words.ts";
import type { Finding } from "./finding.ts";

const key = "tony.gpu-resource-types";

/** What containers may ask for, and whether the site's GPUs go by the names that the settings have. */
export function resourcesFinding(
  types: readonly ResourceType[],
  nodes: readonly NodeReport[],
  { maximum, gpuTypes }: { readonly maximum: Resource; readonly gpuTypes: readonly string[] },
): Finding {
  const names = types.map(({ name }) => name);
  const freeMiB = nodes.map(({ capability, used }) => capability.memoryMiB - used.memoryMiB);
  const largest = `largest container ${amountWords(maximum)}; largest free space ${memoryWords(Math.max(0, ...freeMiB))}`;
  const found = `${names.join(", ")}; ${largest}`;
  const [asked] = gpuTypes;
  const others = gpuTypesAmong(names);
  if (asked === undefined || names.includes(asked) || others.length === 0) {
    return { subject: "resources", state: "well", found };
  }
  return {
    subject: "resources",
    state: "remark",
    found: `${found}; tony.<role>.gpus asks for ${asked}, which this cluster does not have`,
    remedy: `set ${key} to ${others.join(",")} in tony-site.xml`,
  };
}
