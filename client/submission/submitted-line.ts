import type { JobSpec } from "../../src/job/spec.ts";
import { describeRoles } from "../output/progress.ts";

/** The first line of a submission; it begins with the bare id, which Azkaban looks for in a job's log. */
export function submissionLine(id: string, spec: JobSpec, where: string): string {
  return `${id}  ${spec.name} · ${where} · ${describeRoles(spec.roles)}`;
}
