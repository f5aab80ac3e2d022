import { sectionShape } from "../keys/section.ts";
import { keys } from "../keys.ts";
import { object, type Shape } from "../shape.ts";
import type { JobSpec } from "../spec.ts";

/** The sections of a job's spec that an executor has from its start; it gets the others when its ApplicationMaster welcomes it. */
export type EarlySections = Pick<JobSpec, "ports" | "logs">;

export function earlySections({ ports, logs }: EarlySections): EarlySections {
  return { ports, logs };
}

const shape: Shape<EarlySections> = object({
  required: { ports: sectionShape(keys, "ports"), logs: sectionShape(keys, "logs") },
  optional: {},
});

/** Reads the JSON of `earlySections`; undefined when it is not valid. */
export function parseEarlySections(json: string): EarlySections | undefined {
  try {
    return shape(JSON.parse(json), "");
  } catch {
    return undefined;
  }
}
