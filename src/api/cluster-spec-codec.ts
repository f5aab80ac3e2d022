import { gunzipSync, gzipSync } from "node:zlib";
import { TonyError } from "../errors.ts";
import { errorMessage } from "../hadoop/errors.ts";
import type { ClusterSpec, TaskAddress } from "../job/cluster-spec.ts";
import { formatTaskId, parseTaskId, type TaskId } from "../job/task.ts";
import { converted, many, maybe, message, one, someWholes, text, whole } from "./fields.ts";

/** Larger than any gang's spec; data that decompresses to more is refused. */
const maximumBytes = 64 * 1024 * 1024;

/**
 * A ClusterSpec of proto/tony/status.proto, compressed by gzip, in the form sent to every executor. Encode it once per generation: with n
 * tasks, n copies are sent, each with n addresses, and the transport's buffers keep the size of the largest message.
 */
export function encodeClusterSpec(spec: ClusterSpec): Uint8Array {
  return gzipSync(clusterSpec.encode(spec));
}

/** Throws a TonyError with code `INVALID_CLUSTER_SPEC`. */
export function decodeClusterSpec(bytes: Uint8Array): ClusterSpec {
  try {
    return clusterSpec.decode(gunzipSync(bytes, { maxOutputLength: maximumBytes }));
  } catch (cause) {
    throw new TonyError(`the ApplicationMaster sent no usable cluster spec: ${errorMessage(cause)}`, {
      code: "INVALID_CLUSTER_SPEC",
      cause,
    });
  }
}

const taskId = converted(text, { toWire: (id: TaskId): string => id, fromWire: taskNamed });

function taskNamed(name: string): TaskId {
  const parts = parseTaskId(name);
  if (parts === undefined) throw new RangeError(`${name} is not a task such as worker:0`);
  return formatTaskId(parts.role, parts.index);
}

const address = message<TaskAddress>({
  task: one(1, taskId),
  host: one(2, text),
  port: one(3, whole),
  ports: someWholes(4),
});
const clusterSpec = message<ClusterSpec>({
  generation: one(1, whole),
  tasks: many(2, address),
  gangGeneration: maybe(3, whole),
});
