import { gunzipSync, gzipSync } from "node:zlib";
import { TonyError } from "../errors.ts";
import { errorMessage } from "../hadoop/errors.ts";
import type { ClusterSpec } from "./cluster-spec.ts";
import { arrayOf, count, object, type Shape, string } from "./shape.ts";
import { formatTaskId, parseTaskId, type TaskId } from "./task.ts";

/** More than any gang's spec: what unpacks to more is refused. */
const maximumBytes = 64 * 1024 * 1024;

/**
 * JSON, packed by gzip, as it is sent to every executor: encode it once per generation. With n tasks n copies go out, each as long as n,
 * and the transport's buffers keep the size of the largest message they carried.
 */
export function encodeClusterSpec(spec: ClusterSpec): Uint8Array {
  return gzipSync(JSON.stringify(spec));
}

/** Throws a TonyError with code `INVALID_CLUSTER_SPEC`. */
export function decodeClusterSpec(bytes: Uint8Array): ClusterSpec {
  try {
    return clusterSpec(JSON.parse(gunzipSync(bytes, { maxOutputLength: maximumBytes }).toString("utf8")), "");
  } catch (cause) {
    throw new TonyError(`the ApplicationMaster sent no usable cluster spec: ${errorMessage(cause)}`, {
      code: "INVALID_CLUSTER_SPEC",
      cause,
    });
  }
}

const taskId: Shape<TaskId> = (value, where) => {
  const name = parseTaskId(string(value, where));
  if (name === undefined) throw new RangeError(`${where} must be a task such as worker:0`);
  return formatTaskId(name.role, name.index);
};

const clusterSpec: Shape<ClusterSpec> = object({
  required: {
    generation: count,
    tasks: arrayOf(object({ required: { task: taskId, host: string, port: count }, optional: {} })),
  },
  optional: {},
});
