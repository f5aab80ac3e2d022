import { TonyError } from "../errors.ts";
import type { ClusterSpec, TaskAddress } from "./cluster-spec.ts";
import { formatTaskId, parseTaskId } from "./task.ts";

/** JSON as it is sent to every executor: encode it once per generation. */
export function encodeClusterSpec(spec: ClusterSpec): Uint8Array {
  return Buffer.from(JSON.stringify(spec));
}

/** Throws a TonyError with code `INVALID_CLUSTER_SPEC`. */
export function decodeClusterSpec(bytes: Uint8Array): ClusterSpec {
  const parsed: unknown = JSON.parse(Buffer.from(bytes).toString("utf8"));
  if (!isRecord(parsed) || typeof parsed.generation !== "number" || !Array.isArray(parsed.tasks)) throw invalid("");
  return { generation: parsed.generation, tasks: parsed.tasks.map(decodeAddress) };
}

function decodeAddress(value: unknown): TaskAddress {
  const name = isRecord(value) && typeof value.task === "string" ? parseTaskId(value.task) : undefined;
  if (!isRecord(value) || name === undefined || typeof value.host !== "string" || typeof value.port !== "number") {
    throw invalid(`: ${JSON.stringify(value)}`);
  }
  return { task: formatTaskId(name.role, name.index), host: value.host, port: value.port };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

function invalid(detail: string): TonyError {
  return new TonyError(`The ApplicationMaster sent no valid cluster spec${detail}`, { code: "INVALID_CLUSTER_SPEC" });
}
